// What the page of a night does: copies commands and draws charts. Without it all figures are read
// from the tables.
"use strict";
(() => {
  const said = document.getElementById("said");

  // A file opened from disk may have no clipboard: then the text is selected for the reader's keys.
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  const copy = async (button) => {
    const source = document.getElementById(button.dataset.copies);
    let words = "Copied";
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      select(source);
      if (!document.execCommand("copy")) words = "Selected: press Ctrl+C";
    }
    button.textContent = words;
    said.textContent = words;
    setTimeout(() => {
      button.textContent = "Copy";
      said.textContent = "";
    }, 2000);
  };
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }

  // A link to what stands in closed details opens them.
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();

  if (typeof Chart === "undefined") {
    for (const figure of document.querySelectorAll("figure")) figure.hidden = true;
    return;
  }

  const figures = JSON.parse(document.getElementById("figures").textContent);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const series = 6;
  const shapes = ["circle", "rect", "triangle", "rectRot", "cross", "star"];
  // An engine has one colour on the whole page.
  const engines = [];
  for (const figure of Object.values(figures)) {
    for (const { engine } of figure.engines ?? []) {
      if (!engines.includes(engine)) engines.push(engine);
    }
  }
  const colour = (engine) => style(`--series-${(engines.indexOf(engine) % series) + 1}`);
  const shape = (engine) => shapes[engines.indexOf(engine) % series];
  const short = (value) => {
    if (value === 0) return "0";
    const size = Math.abs(value);
    return size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(2);
  };

  // Lines across a chart: [axis, place, words, colour, dash]. A place is an index between labels on
  // x, a value on y.
  const marks = {
    id: "marks",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea: area, scales } = chart;
      for (const mark of chart.options.plugins.marks.lines ?? []) {
        ctx.save();
        ctx.strokeStyle = ctx.fillStyle = style(mark.colour);
        ctx.lineWidth = 1.5;
        ctx.setLineDash(mark.dash ?? []);
        ctx.font = "12px system-ui, sans-serif";
        ctx.beginPath();
        if (mark.axis === "y") {
          const y = scales.y.getPixelForValue(mark.place);
          if (y < area.top || y > area.bottom) { ctx.restore(); continue; }
          ctx.moveTo(area.left, y);
          ctx.lineTo(area.right, y);
          ctx.textAlign = "left";
          ctx.fillText(mark.words, area.left + 4, y + 13);
        } else {
          const x = mark.between
            ? (scales.x.getPixelForValue(mark.place - 1) + scales.x.getPixelForValue(mark.place)) / 2
            : scales.x.getPixelForValue(mark.place);
          ctx.moveTo(x, area.top);
          ctx.lineTo(x, area.bottom);
          // Beyond the bound there are no bars as a rule.
          const room = area.right - x - 4;
          const right = mark.between
            ? room < ctx.measureText(mark.words).width
            : x > (area.left + area.right) / 2;
          ctx.textAlign = right ? "right" : "left";
          ctx.fillText(mark.words, x + (ctx.textAlign === "right" ? -4 : 4), area.top + 12);
        }
        ctx.stroke();
        ctx.restore();
      }
    },
  };

  const axis = (title, more = {}) => ({
    title: { display: title !== "", text: title, color: style("--quiet") },
    ticks: { color: style("--quiet"), maxRotation: 0, autoSkipPadding: 12, ...more.ticks },
    grid: { color: style("--line"), borderColor: style("--line"), ...more.grid },
    ...more.axis,
  });
  // Powers of two as one writes them; the page's text has 2^-3.
  const superscript = (label) =>
    label.replace(/\^(-?\d+)/, (_, digits) =>
      [...digits].map((digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit])).join(""));
  // The year of a night is in the table.
  const day = (night) => night.replace(/^\d{4}-/, "");
  const frame = (type, labels, datasets, x, y, lines, words) => ({
    type,
    data: { labels, datasets },
    plugins: [marks],
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: "index", intersect: false },
      scales: { x, y },
      plugins: {
        marks: { lines },
        legend: {
          position: "bottom",
          // One entry an engine, which hides and shows all of its lines.
          labels: {
            color: style("--ink"), usePointStyle: true, boxHeight: 7,
            filter: (item, data) => !data.datasets[item.datasetIndex].unnamed,
          },
          onClick(event, item, legend) {
            const { chart } = legend;
            const { label } = chart.data.datasets[item.datasetIndex];
            const shown = chart.isDatasetVisible(item.datasetIndex);
            chart.data.datasets.forEach((dataset, i) => {
              if (dataset.label === label) chart.setDatasetVisibility(i, !shown);
            });
            chart.update();
          },
        },
        tooltip: { callbacks: { label: words } },
      },
    },
  });

  const histogram = (figure) => {
    const datasets = figure.engines.map(({ engine, shares }) => ({
      label: engine,
      data: shares,
      backgroundColor: colour(engine),
      pointStyle: shape(engine),
    }));
    const bound = {
      axis: "x", between: true, place: figure.bound, words: "bound", colour: "--bad",
    };
    return frame(
      "bar", figure.labels.map(superscript), datasets, axis("error/bound", { grid: { display: false } }),
      axis("% of samples", { axis: { min: 0, max: 100 } }), [bound],
      (item) => `${item.dataset.label}: ${item.parsed.y.toPrecision(3)} % of samples`);
  };

  const quantiles = [
    ["p50", [2, 3], 1],
    ["p99", [7, 4], 2],
    ["worst", [], 2],
  ];
  const trend = (figure) => {
    // The first engine is drawn on top: the shapes of others are larger, so that they are seen
    // where figures are equal.
    const datasets = figure.engines.flatMap((engine, i) =>
      quantiles.map(([name, borderDash, borderWidth]) => ({
        label: engine.engine,
        figure: name,
        unnamed: name !== "worst",
        data: engine[name],
        borderColor: colour(engine.engine),
        backgroundColor: colour(engine.engine),
        pointStyle: shape(engine.engine),
        pointRadius: name === "p50" ? 0 : 2 + 1.5 * i,
        pointBackgroundColor: i === 0 ? colour(engine.engine) : "transparent",
        borderDash,
        borderWidth,
        spanGaps: false,
      })));
    const lines = [{ axis: "y", place: 1, words: "bound", colour: "--bad" }];
    for (const { night, alarm } of figure.steps) {
      if (night < 0) continue;
      lines.push({
        axis: "x", place: night, words: alarm ? "alarm" : "moved",
        colour: alarm ? "--bad" : "--odd", dash: [3, 3],
      });
    }
    return frame(
      "line", figure.nights.map(day), datasets, axis(""),
      axis("error/bound", {
        axis: { type: "logarithmic", suggestedMax: 1 },
        ticks: { callback: (value) => (/^1e|^[15]/.test(value.toExponential()) ? short(value) : "") },
      }),
      lines, (item) => `${item.dataset.label} ${item.dataset.figure}: ${short(item.parsed.y)}`);
  };

  const bench = (figure) => {
    const line = (label, data, borderDash, borderWidth) => ({
      label, data, borderDash, borderWidth,
      borderColor: style("--series-1"),
      backgroundColor: style("--series-1"),
      pointRadius: borderWidth > 1 ? 3 : 0,
      // The caption says which is which.
      unnamed: true,
    });
    const datasets = [
      line("median", figure.median, [], 2),
      line("fastest", figure.fastest, [2, 3], 1),
      line("slowest", figure.slowest, [7, 4], 1),
    ];
    return frame(
      "line", figure.nights.map(day), datasets, axis(""), axis(figure.unit), [],
      (item) => `${item.dataset.label}: ${short(item.parsed.y)} ${figure.unit}`);
  };

  const kinds = { histogram, trend, bench };
  const drawn = new Map();
  const draw = (canvas) => {
    if (drawn.has(canvas)) return;
    const figure = figures[canvas.id];
    drawn.set(canvas, new Chart(canvas, kinds[figure.kind](figure)));
  };
  const canvases = [...document.querySelectorAll("canvas")];
  // Those near the reader's eyes; all of them for paper.
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) draw(target);
  }, { rootMargin: "600px" });
  for (const canvas of canvases) seen.observe(canvas);
  addEventListener("beforeprint", () => {
    canvases.forEach(draw);
    for (const chart of drawn.values()) chart.resize();
  });
  addEventListener("afterprint", () => {
    for (const chart of drawn.values()) chart.resize();
  });
  dark.addEventListener("change", () => {
    for (const [canvas, chart] of [...drawn]) {
      chart.destroy();
      drawn.delete(canvas);
      draw(canvas);
    }
  });
})();
