"""A headless Chromium over its debugging pipe: what the tests of pages ask of it, and no more.

The protocol is JSON texts that end with a zero byte, written to the browser's descriptor 3 and read
from its descriptor 4. No package is needed, and no port is opened.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing that a browser does on its own may look like a request of the page.
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-default-apps", "--disable-extensions", "--hide-scrollbars")
ANSWER_SECONDS = 60


def find_browser():
    """The path of a Chromium, or None."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    return None


class Browser:
    def __init__(self, path):
        self.profile = tempfile.TemporaryDirectory(prefix="deltaproof_browser_",
                                                   ignore_cleanup_errors=True)
        from_us, self.out = os.pipe()
        self.back, from_browser = os.pipe()

        def hand_over():
            # First out of the way of 3 and 4, which they may have themselves.
            high = os.dup2(from_us, 50), os.dup2(from_browser, 51)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [path, *QUIET, f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe",
             "about:blank"],
            preexec_fn=hand_over, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(from_browser)
        self.number = 0
        self.pending = b""
        self.events = []

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.back)
        self.profile.cleanup()

    def _message(self, until):
        while b"\0" not in self.pending:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.back, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.pending += more
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + ANSWER_SECONDS
        while True:
            got = self._message(until)
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)


class Page:
    """A tab that shows a file, and what happened in it since."""

    def __init__(self, browser, path, width=1280, height=900, scheme="light", scripts=True):
        self.browser = browser
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.ask("Target.attachToTarget", targetId=target,
                                   flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)
        self.scheme(scheme)
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.url = pathlib.Path(path).resolve().as_uri()
        self.ask("Page.navigate", url=self.url)
        until = time.monotonic() + ANSWER_SECONDS
        while not self._seen("Page.loadEventFired"):
            self.ask("Page.getFrameTree")
            if time.monotonic() > until:
                raise TimeoutError(f"{path} is not loaded")
            time.sleep(0.02)

    def ask(self, method, **params):
        return self.browser.ask(method, self.session, **params)

    def _of_this(self):
        return [e for e in self.browser.events if e.get("sessionId") == self.session]

    def _seen(self, method):
        return [e["params"] for e in self._of_this() if e["method"] == method]

    def run(self, expression):
        """The value of a JavaScript expression, awaited."""
        got = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True,
                       returnByValue=True, userGesture=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def click(self, expression):
        """A real click, by the mouse, in the middle of an element."""
        box = self.run(f"(() => {{ const e = {expression}; e.scrollIntoView({{block: 'center'}});"
                       "const b = e.getBoundingClientRect();"
                       "return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                     clickCount=1)

    def key(self, name, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                     windowsVirtualKeyCode=code)

    def scheme(self, name):
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": name}])

    def pasted(self):
        """What the clipboard holds, as a reader would find out: no permission is given for it."""
        self.run("(() => { const t = document.createElement('textarea'); t.id = 'pasted_here';"
                 "document.body.append(t); t.focus({preventScroll: true}); })()")
        self.ask("Input.dispatchKeyEvent", type="keyDown", key="v", code="KeyV", modifiers=2,
                 commands=["paste"])
        text = self.run("document.getElementById('pasted_here').value")
        self.run("document.getElementById('pasted_here').remove()")
        return text

    def dialogs(self):
        return [e["message"] for e in self._seen("Page.javascriptDialogOpening")]

    def complaints(self):
        """Errors and warnings of the console, exceptions, and refusals of the page's policy."""
        said = [e["entry"]["text"] for e in self._seen("Log.entryAdded")]
        said += [str(e["exceptionDetails"]) for e in self._seen("Runtime.exceptionThrown")]
        said += [str(e["args"]) for e in self._seen("Runtime.consoleAPICalled")]
        return said

    def requests(self):
        return [e["request"]["url"] for e in self._seen("Network.requestWillBeSent")]

    def picture(self, path, whole=True, height_max=12000):
        """Scrolls through first, so that all that is drawn when it is seen is drawn."""
        height = self.run("document.documentElement.scrollHeight")
        for y in range(0, height, 700):
            self.run(f"scrollTo(0, {y}), new Promise(r => setTimeout(r, 30))")
        self.run("scrollTo(0, 0)")
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, height_max), "scale": 1}
        more = {"captureBeyondViewport": True, "clip": clip} if whole else {}
        data = self.ask("Page.captureScreenshot", format="png", **more)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.ask("Target.closeTarget", targetId=self.target)
