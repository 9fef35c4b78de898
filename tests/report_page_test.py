#!/usr/bin/env python3
"""The pages of simulated nights in a headless Chromium, as a reader would have them.

    python3 tests/report_page_test.py PROGRAM [--pictures FOLDER]

PROGRAM writes the pages: build/dev/tests/simulated_pages. Exit status: 0 all is as it should be,
1 something is not, 77 there is no browser here and nothing was tested.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from browser import Browser, Page, find_browser  # noqa: E402

NO_BROWSER = 77
# Those with all that a page can have, in all ways of looking at it, and some others.
VISITED = ("moved", "finding", "hostile")
GLANCED_AT = ("holds", "without_gpu", "alone")
PHONE = 390
# A busy machine draws late.
DRAWN_SECONDS = 20

# Elements with text of their own whose contrast with what is behind them is less than WCAG 2.2 asks
# for: 4.5, or 3 for large text. A pattern counts as its lightest and darkest colour would; we have
# one, and both of its colours are grounds that are tested elsewhere.
LOW_CONTRAST = """(() => {
  const parts = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const ground = parts(getComputedStyle(at).backgroundColor);
      if (ground[3] === 1) return ground;
    }
    return [255, 255, 255, 1];
  };
  const low = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(parts(style.color)), light(behind(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) low.push(`${element.tagName}.${element.className} ${ratio}`);
  }
  return [...new Set(low)];
})()"""

UNDRAWN = """[...document.querySelectorAll('canvas')].filter((canvas) => {
  if (!Chart.getChart(canvas)) return true;
  // Of a copy: the browser warns of reading one that it draws.
  const copy = new OffscreenCanvas(canvas.width, canvas.height)
    .getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  return !data.some((byte) => byte !== 0);
}).map((canvas) => canvas.id)"""

failures = []
checks = 0


def expect(what, got, want):
    global checks
    checks += 1
    if got != want:
        failures.append(f"{what}: got {got}, want {want}")


def scroll_through(page):
    height = page.run("document.documentElement.scrollHeight")
    for y in range(0, height, 600):
        page.run(f"scrollTo(0, {y}), new Promise((done) => setTimeout(done, 20))")


def expect_quiet(page, what):
    expect(f"{what}: console", page.complaints(), [])
    expect(f"{what}: requests", page.requests(), [page.url])
    expect(f"{what}: dialogs", page.dialogs(), [])


def check_links(page, what):
    expect(f"{what}: links that lead nowhere", page.run(
        "[...document.links].map((a) => a.getAttribute('href'))"
        ".filter((h) => !h.startsWith('#') || !document.getElementById(h.slice(1)))"), [])
    # One that leads far down does so.
    page.click("[...document.querySelectorAll('nav a')].at(-1)")
    expect(f"{what}: the last section is reached", page.run(
        "(() => { const b = document.getElementById(location.hash.slice(1))"
        ".getBoundingClientRect(); return b.top >= 0 && b.top < innerHeight; })()"), True)


def check_copies(page, what):
    page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    count = page.run("document.querySelectorAll('button.copy').length")
    expect(f"{what}: there is a copy button", count > 0, True)
    for i in range(count):
        button = f"document.querySelectorAll('button.copy')[{i}]"
        page.click(button)
        until = time.monotonic() + 5
        while page.run(f"{button}.textContent") != "Copied" and time.monotonic() < until:
            time.sleep(0.01)
        want = page.run(f"document.getElementById({button}.dataset.copies).textContent")
        expect(f"{what}: copied by button {i + 1}", page.pasted(), want)
        expect(f"{what}: said by button {i + 1}",
               page.run("document.getElementById('said').textContent"), "Copied")


def check_keys(page, what):
    page.key("Tab", 9)
    expect(f"{what}: Tab comes to the skip link first",
           page.run("document.activeElement.className"), "skip")
    expect(f"{what}: which is then seen",
           page.run("document.activeElement.getBoundingClientRect().top >= 0"), True)
    page.key("Enter", 13)
    expect(f"{what}: Enter goes to the report", page.run("location.hash"), "#main")
    # What scrolls can be scrolled without a mouse.
    expect(f"{what}: boxes that a keyboard cannot reach",
           page.run("[...document.querySelectorAll('.scroll, pre')].filter((b) => b.tabIndex < 0)"
                    ".length"), 0)


def check_charts(page, what):
    expect(f"{what}: there are charts", page.run("document.querySelectorAll('canvas').length > 0"),
           True)
    until = time.monotonic() + DRAWN_SECONDS
    undrawn = None
    while undrawn != [] and time.monotonic() < until:
        scroll_through(page)
        undrawn = page.run(UNDRAWN)
    expect(f"{what}: charts that are not drawn", undrawn, [])


def check_width(page, what):
    expect(f"{what}: wider than the window",
           page.run("document.documentElement.scrollWidth - innerWidth"), 0)


def glance(browser, path):
    """What can differ from page to page."""
    page = Page(browser, path)
    check_links(page, path.stem)
    check_charts(page, path.stem)
    check_width(page, path.stem)
    expect(f"{path.stem}: low contrast in light", page.run(LOW_CONTRAST), [])
    expect_quiet(page, path.stem)
    page.close()


def visit(browser, path, pictures):
    name = path.stem
    page = Page(browser, path)
    check_keys(page, name)
    check_links(page, name)
    check_charts(page, name)
    check_width(page, name)
    expect(f"{name}: low contrast in light", page.run(LOW_CONTRAST), [])
    if pictures:
        page.picture(pictures / f"{name}_light.png")
    # While it is open.
    page.scheme("dark")
    light_ground = "getComputedStyle(document.body).backgroundColor"
    expect(f"{name}: dark ground", page.run(light_ground) != "rgb(255, 255, 255)", True)
    check_charts(page, f"{name} in dark")
    expect(f"{name}: low contrast in dark", page.run(LOW_CONTRAST), [])
    if pictures:
        page.picture(pictures / f"{name}_dark.png")
    check_copies(page, name)
    if name == VISITED[0]:
        page.ask("Page.printToPDF", printBackground=True)
    expect_quiet(page, name)
    page.close()

    phone = Page(browser, path, width=PHONE, height=844)
    check_width(phone, f"{name} on a phone")
    phone.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    check_charts(phone, f"{name} on a phone")
    check_width(phone, f"{name} on a phone, all opened")
    expect_quiet(phone, f"{name} on a phone")
    if pictures:
        phone.run("document.querySelectorAll('details').forEach((d) => { d.open = false; })")
        phone.picture(pictures / f"{name}_phone.png")
    phone.close()


def visit_without_scripts(browser, path):
    page = Page(browser, path, scripts=False)
    expect_quiet(page, f"{path.stem} without scripts")
    tree = page.ask("Accessibility.getFullAXTree")["nodes"]
    names = [n.get("name", {}).get("value", "") for n in tree if not n["ignored"]]
    for text in ("What to do first", "Worst error/bound", "gated_norm"):
        expect(f"{path.stem} without scripts: {text}", any(text in n for n in names), True)
    roles = [n["role"]["value"] for n in tree if not n["ignored"]]
    expect(f"{path.stem} without scripts: buttons that do nothing", roles.count("button"), 0)
    for role in ("main", "navigation", "banner", "contentinfo"):
        expect(f"{path.stem}: landmark {role}", roles.count(role), 1)
    page.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--pictures", type=pathlib.Path, help="keep screenshots in this folder")
    given = parser.parse_args()
    path = find_browser()
    if path is None:
        print("report_page_test: NOT RUN: no Chromium is installed here (apt-get install chromium)")
        return NO_BROWSER
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="deltaproof_pages_") as folder:
        subprocess.run([given.program, folder], check=True)
        browser = Browser(path)
        try:
            for name in VISITED:
                visit(browser, pathlib.Path(folder) / f"{name}.html", given.pictures)
            for name in GLANCED_AT:
                glance(browser, pathlib.Path(folder) / f"{name}.html")
            visit_without_scripts(browser, pathlib.Path(folder) / "moved.html")
        finally:
            browser.close()
    for failure in failures:
        print(f"report_page_test: {failure}")
    print(f"report_page_test: {checks} checks of "
          f"{len(VISITED) + len(GLANCED_AT)} pages, {len(failures)} fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
