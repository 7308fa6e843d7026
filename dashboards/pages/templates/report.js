"use strict";
// Sorting, copying, saving, and drawing figures when they become visible.
window.ravenlabReport = (() => {
  const MOST_SCENES = 8; // Chromium keeps 16 WebGL contexts for all pages
  const byId = (id) => document.getElementById(id);
  const held = (id) => JSON.parse(byId(id).textContent);
  const exports_ = held("exports");
  const announce = (text) => { const status = byId("status"); if (status) status.textContent = text; };

  // ---- the table ----
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  function order(a, b) {
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? compare(a, b) : x - y;
  }
  function sort(heading) {
    const table = heading.closest("table"), body = table.tBodies[0];
    const column = [...heading.parentNode.children].indexOf(heading);
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.children[column].dataset.value;
    const rows = [...body.rows];
    const empty = rows.filter((row) => value(row) === ""), full = rows.filter((row) => value(row) !== "");
    full.sort((a, b) => (down ? -1 : 1) * order(value(a), value(b)));
    body.append(...full, ...empty); // rows without a value stay at the end
    announce(`Sorted by ${heading.textContent.trim()}, ${down ? "descending" : "ascending"}.`);
  }

  // ---- copy and save ----
  const textOf = (button, form) => exports_[button.closest("tr").id][form];
  async function copy(button) {
    const text = textOf(button, button.dataset.copy), before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea"); // some browsers deny clipboard access to file://
      area.value = text;
      area.className = "hidden";
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    announce(`Copied ${button.dataset.copy.toUpperCase()}.`);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  }
  function save(button) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([textOf(button, button.dataset.save)], { type: "text/plain" }));
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    announce(`Saved ${button.dataset.name}.`);
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.copy) copy(button);
    else if (button.dataset.save) save(button);
    else if (button.closest(".sortable thead")) sort(button.closest("th"));
  });

  // ---- contents: closed on small screens ----
  const contents = byId("toc");
  if (matchMedia("(max-width: 62rem)").matches) contents.open = false;

  // ---- figures ----
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll(".plot")];
  const near = new Set();
  const CONFIG = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  const themes = held("themes");
  let drawing = false;

  const drawn = (plot) => plot.dataset.state === "drawn";
  const scenes = (plot) => Number(plot.dataset.scenes || 0);
  const away = (plot) => {
    const box = plot.getBoundingClientRect();
    return Math.max(0, box.top - innerHeight, -box.bottom);
  };
  function rest(plot) {
    plot.style.minHeight = `${plot.offsetHeight}px`;
    for (const canvas of plot.querySelectorAll("canvas")) {
      const context = canvas.getContext("webgl2") || canvas.getContext("webgl");
      const ending = context && context.getExtension("WEBGL_lose_context");
      if (ending) ending.loseContext(); // free it now instead of at the next garbage collection
    }
    Plotly.purge(plot);
    plot.replaceChildren();
    plot.dataset.state = "resting";
  }
  function makeRoom(plot) {
    const live = plots.filter((each) => each !== plot && drawn(each) && scenes(each));
    live.sort((a, b) => away(b) - away(a));
    let count = live.reduce((sum, each) => sum + scenes(each), scenes(plot));
    while (count > MOST_SCENES && live.length) {
      const farthest = live.shift();
      count -= scenes(farthest);
      rest(farthest);
    }
  }
  function spec(plot) {
    const figure = JSON.parse(document.querySelector(`script[data-for="${plot.dataset.figure}"]`).textContent);
    const layout = figure.layout;
    for (const [path, value] of Object.entries(themes[dark.matches ? "dark" : "light"])) {
      const keys = path.split("."), last = keys.pop();
      keys.reduce((part, key) => (part[key] ??= {}), layout)[last] = value;
    }
    layout.autosize = true;
    delete layout.width;
    return [figure.data, layout];
  }
  function loadPlotly() {
    // Five megabytes of script: run when the page is idle, or when the first figure becomes visible.
    if (window.Plotly) return;
    const script = document.createElement("script");
    script.textContent = byId("plotly").textContent;
    document.head.append(script);
  }
  async function draw(plot) {
    loadPlotly();
    if (scenes(plot)) makeRoom(plot);
    const [data, layout] = spec(plot);
    plot.replaceChildren();
    plot.dataset.state = "drawn"; // set first: a WebGL context exists before drawing is complete
    await Plotly.newPlot(plot, data, layout, CONFIG);
    plot.style.minHeight = "";
  }
  async function work() {
    if (drawing) return;
    drawing = true;
    for (;;) {
      const waiting = [...near].filter((plot) => !drawn(plot)).sort((a, b) => away(a) - away(b));
      if (!waiting.length) break;
      await draw(waiting[0]);
      await new Promise((done) => setTimeout(done)); // keep the page responsive between figures
    }
    drawing = false;
  }
  async function retheme() {
    for (const plot of plots.filter(drawn)) await Plotly.react(plot, ...spec(plot), CONFIG);
  }
  function begin() {
    document.documentElement.dataset.ready = "yes";
    document.documentElement.dataset.readyAfter = String(Math.round(performance.now())); // ms since it was opened
    if (!byId("plotly")) return;
    const watch = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) near[entry.isIntersecting ? "add" : "delete"](entry.target);
        work();
      },
      { rootMargin: "300px 0px" },
    );
    plots.forEach((plot) => watch.observe(plot));
    dark.addEventListener("change", retheme);
    (window.requestIdleCallback || setTimeout)(loadPlotly);
    addEventListener("beforeprint", () => {
      for (const plot of plots) if (!drawn(plot) && !scenes(plot)) draw(plot);
    });
  }
  return { begin };
})();
