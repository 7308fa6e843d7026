"use strict";
// Filters, collapsible studies, linked figures, sorting, copying, and drawing figures when they become visible.
window.ravenlabReport = (() => {
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
    const { values, copy: form } = button.dataset;
    const text = values || textOf(button, form), before = button.textContent;
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
    announce(`Copied ${values || form.toUpperCase()}.`);
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
    if (button.dataset.copy || button.dataset.values) copy(button);
    else if (button.dataset.save) save(button);
    else if (button.dataset.open) openAll(button);
    else if (button.closest(".sortable thead")) sort(button.closest("th"));
  });

  // ---- collapsible studies: links and the address open the part that they lead to ----
  const sections = () => [...document.querySelectorAll("details.study")];
  function reveal(hash) {
    const target = hash.length > 1 && byId(decodeURIComponent(hash.slice(1)));
    if (!target) return;
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  }
  function openAll(button) {
    const open = button.dataset.open === "yes";
    for (const part of sections()) part.open = open;
    button.dataset.open = open ? "no" : "yes";
    button.textContent = open ? "Close all" : "Open all";
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) setTimeout(() => reveal(link.hash));
  });
  addEventListener("hashchange", () => reveal(location.hash));

  // ---- filters and order of the studies; the address keeps them as #?scenario=…&order=… ----
  const filters = byId("filters");
  const findings = [...document.querySelectorAll(".findings > li")];
  const valuesOf = (part) => JSON.parse(part.dataset.filter);
  const numberOf = (text) => (text === "" || text === undefined ? -Infinity : Number(text.replaceAll(",", "")));
  const places = new Map([...document.querySelectorAll("details.study[data-study]")].map((part, place) => [part.dataset.study, place]));
  const decisions = [...document.querySelectorAll(".chip input")].map((chip) => chip.value);
  const ORDERS = {
    "": (part) => -numberOf(part.dataset.gain),
    place: (part) => places.get(part.dataset.study),
    horizon: (part) => numberOf(valuesOf(part).horizon[0]),
    decision: (part) => decisions.indexOf(valuesOf(part).decision[0]),
  };
  function arrange(name) {
    const key = ORDERS[name] || ORDERS[""], keys = new Map(findings.map((part) => [part, key(part)]));
    const gain = ORDERS[""], place = ORDERS.place;
    const compareParts = (a, b) => keys.get(a) - keys.get(b) || (name === "decision" ? gain(a) - gain(b) : 0) || place(a) - place(b);
    const sorted = [...findings].sort(compareParts), list = document.querySelector(".findings");
    if (sorted.some((part, i) => list.children[i] !== part)) list.append(...sorted);
  }
  function count(shown, others) {
    // Chips count the studies that the other filters show; the sentences count those that are shown.
    const set = (element, number) => { element.textContent = String(number); return number; };
    for (const chip of document.querySelectorAll(".chip")) {
      const label = chip.querySelector("[data-count]"), key = label.dataset.count, input = chip.querySelector("input");
      const number = set(label, others.filter((part) => !key || valuesOf(part).decision.includes(key)).length);
      chip.hidden = !number && !input.checked;
    }
    const relations = shown.map((part) => JSON.parse(part.dataset.relations));
    for (const line of document.querySelectorAll(".tally")) {
      const found = relations.map((each) => each[line.dataset.baseline]).filter((each) => each);
      line.hidden = !found.length;
      line.querySelector("[data-total]").textContent = `${found.length} ${found.length === 1 ? "study" : "studies"}`;
      for (const part of line.querySelectorAll("[data-relation]")) {
        part.hidden = !set(part.querySelector("b"), found.filter((each) => each === part.dataset.relation).length);
      }
    }
  }
  function filter() {
    const entries = [...new FormData(filters)].filter(([, value]) => value);
    const chosen = entries.filter(([name]) => name !== "order");
    const matches = (part, wanted) => {
      const values = valuesOf(part);
      return wanted.every(([name, value]) => !values[name] || !values[name].length || values[name].includes(value));
    };
    for (const part of document.querySelectorAll("[data-filter]")) part.hidden = !matches(part, chosen);
    for (const section of document.querySelectorAll("main > section")) {
      const parts = [...section.querySelectorAll("details[data-filter]")];
      section.hidden = parts.length > 0 && parts.every((part) => part.hidden);
    }
    for (const item of document.querySelectorAll(".toc ol ol > li")) {
      const links = [...item.querySelectorAll("a")];
      for (const link of links) link.hidden = byId(link.hash.slice(1)).hidden;
      item.hidden = links.every((link) => link.hidden);
    }
    for (const note of document.querySelectorAll(".unfiltered")) note.hidden = !chosen.length;
    const shown = findings.filter((part) => !part.hidden);
    count(shown, findings.filter((part) => matches(part, chosen.filter(([name]) => name !== "decision"))));
    arrange(filters.elements.order ? filters.elements.order.value : "");
    byId("shown").textContent = `${shown.length} of ${findings.length} shown`;
    const empty = document.querySelector(".empty");
    if (empty) empty.hidden = shown.length > 0;
    filters.querySelector("button").hidden = !entries.length;
    const address = entries.length ? `#?${new URLSearchParams(entries)}` : location.hash.startsWith("#?") ? "#" : location.hash;
    if (address !== location.hash) history.replaceState(null, "", address || " ");
  }
  function beginFilters() {
    if (!filters) return;
    if (location.hash.startsWith("#?")) {
      for (const [name, value] of new URLSearchParams(location.hash.slice(2))) {
        const control = filters.elements[name];
        const known = control && [...(control.options || control)].some((option) => option.value === value);
        if (known) control.value = value;
      }
    }
    addEventListener("input", (event) => { if (event.target === filters || event.target.form === filters) filter(); }, true);
    filters.addEventListener("reset", () => setTimeout(filter));
    new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${filters.offsetHeight}px`)).observe(filters);
    filter();
  }

  // ---- contents: the current section is marked ----
  function markCurrent() {
    const links = [...document.querySelectorAll(".toc a")];
    const reached = (link) => {
      const box = byId(link.hash.slice(1)).getBoundingClientRect();
      return (box.height || box.width) && box.top < innerHeight / 3;
    };
    const passed = links.filter(reached).sort((a, b) => byId(a.hash.slice(1)).getBoundingClientRect().top - byId(b.hash.slice(1)).getBoundingClientRect().top);
    const current = passed.at(-1) || links[0];
    for (const link of links) {
      if (link !== current) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        const list = link.closest("details"), box = link.getBoundingClientRect(), around = list.getBoundingClientRect();
        if (box.top < around.top || box.bottom > around.bottom) list.scrollTop += box.top - around.top - around.height / 2;
      }
    }
  }
  let marking = false;
  addEventListener("scroll", () => {
    if (marking) return;
    marking = true;
    requestAnimationFrame(() => { marking = false; markCurrent(); });
  }, { passive: true });

  // ---- linked figures: parameters under the pointer are marked in the other figures of the study ----
  const maps = window.ravenlabMaps;
  const linkOf = (plot) => plot.layout && plot.layout.meta && plot.layout.meta.link;
  function pointOf(plot, hit) {
    const link = linkOf(plot), meta = hit.data.meta || {};
    const at = (...values) => maps.paramsAt(link, values);
    if (hit.data.type === "heatmap") {
      const cell = [hit.x, hit.y].slice(0, link.names.length), [value, ...text] = hit.customdata;
      return { params: at(...cell.map((place, i) => link.axes[i][place])), value, text };
    }
    if (meta.params) return { params: meta.params };
    if (meta.line !== undefined) return { params: meta.line === null ? at(hit.x) : at(hit.x, meta.line), value: hit.y, text: hit.customdata };
    return null;
  }
  function cellPosition(values, value, log) {
    const scale = log ? Math.log : Number;
    const last = values.length - 1;
    if (!(value >= values[0])) return -0.5;
    if (value > values[last]) return last + 0.5;
    const i = Math.min(values.findLastIndex((each) => each <= value), last - 1);
    return last === 0 ? 0 : i + (scale(value) - scale(values[i])) / (scale(values[i + 1]) - scale(values[i]));
  }
  const same = (a, b) => Object.keys(a).every((name) => b[name] === undefined || Math.abs(a[name] - b[name]) <= 1e-3 * Math.abs(b[name]));
  function fade(plot, chosen, part = () => true) {
    const places = plot.data.map((trace, place) => place).filter((place) => plot.data[place].meta && part(plot.data[place].meta));
    Plotly.restyle(plot, { opacity: places.map((place) => (!chosen || chosen(plot.data[place].meta) ? 1 : 0.2)) }, places);
  }
  function show(plot, point) {
    const link = linkOf(plot), ring = plot.data.length - 1;
    const place = (x, y) => Plotly.restyle(plot, { x: [x === undefined ? [] : [x]], y: [y === undefined ? [] : [y]] }, [ring]);
    const values = (link.names || []).map((name) => (point ? point.params[name] : undefined));
    const known = values.every((value) => value !== undefined);
    if (link.kind === "map") {
      const [x, y] = known ? values.map((value, i) => cellPosition(link.axes[i], value, link.log[i])) : [];
      place(x, known && values.length === 1 ? 0 : y);
    } else if (link.kind === "lines") {
      const isLine = (meta) => meta.line !== undefined;
      const lines = plot.data.filter((trace) => trace.meta && isLine(trace.meta)).map((trace) => trace.meta.line);
      const far = (each) => Math.abs(Math.log(each / values[1]));
      const nearest = values[1] === undefined ? undefined : lines.reduce((a, b) => (far(b) < far(a) ? b : a));
      fade(plot, nearest === undefined ? null : (meta) => meta.line === nearest, isLine);
      place(values[0], known ? point.value : undefined);
    } else if (link.kind === "curves") {
      const drawn = point && plot.data.some((trace) => trace.meta && same(trace.meta.params, point.params));
      fade(plot, drawn ? (meta) => same(meta.params, point.params) : null);
      const level = point && !drawn && point.value !== undefined;
      const added = { type: "line", xref: "paper", x0: 0, x1: 1, yref: "y", y0: point && point.value, y1: point && point.value, line: { color: "#d55e00", width: 2, dash: "dash" } };
      Plotly.relayout(plot, { shapes: [...plot.ownShapes, ...(level ? [added] : [])] });
    }
  }
  let waitingMark = null;
  function mark(study, point, source) {
    if (!study) return;
    if (!waitingMark) requestAnimationFrame(() => { const next = waitingMark; waitingMark = null; next(); });
    waitingMark = () => {
      study.dataset.pointed = point ? JSON.stringify(point) : "";
      for (const plot of study.querySelectorAll(".linked .plot")) if (plot !== source && drawn(plot) && linkOf(plot)) show(plot, point);
    };
  }
  function attach(plot) {
    if (!linkOf(plot) || !plot.closest(".linked") || plot.linked) return;
    plot.linked = true;
    const group = maps.groupOf(plot);
    plot.on("plotly_hover", (event) => {
      const point = pointOf(plot, event.points[0]);
      if (!point) return;
      mark(group, point, plot);
      maps.describe(group, point);
    });
    plot.on("plotly_unhover", () => {
      const selected = maps.selectedIn(group);
      mark(group, selected, selected ? null : plot);
      maps.describe(group, selected);
    });
    plot.on("plotly_click", (event) => {
      const point = pointOf(plot, event.points[0]);
      if (!point || !point.text) return;
      maps.select(group, point);
      mark(group, point, null);
    });
  }
  document.addEventListener("keydown", (event) => {
    const moved = event.target.matches(".cell") && maps.move(event.target, event.key);
    if (!moved) return;
    event.preventDefault();
    mark(...moved, null);
  });

  // ---- contents: closed on small screens ----
  const contents = byId("toc");
  if (matchMedia("(max-width: 62rem)").matches) contents.open = false;

  // ---- figures ----
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => dark.matches && !printing;
  const plots = [...document.querySelectorAll(".plot")];
  const near = new Set();
  const CONFIG = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  const themes = held("themes");
  let drawing = false, printing = false;

  const drawn = (plot) => plot.dataset.state === "drawn";
  const away = (plot) => {
    const box = plot.getBoundingClientRect();
    return Math.max(0, box.top - innerHeight, -box.bottom);
  };
  function spec(plot) {
    let text = document.querySelector(`script[data-for="${plot.dataset.figure}"]`).textContent;
    if (isDark()) for (const [light, replacement] of Object.entries(themes.colors)) text = text.replaceAll(light, replacement);
    const figure = JSON.parse(text);
    const layout = figure.layout;
    for (const [path, value] of Object.entries(themes[isDark() ? "dark" : "light"])) {
      const keys = path.split("."), last = keys.pop();
      keys.reduce((part, key) => (part[key] ??= {}), layout)[last] = value;
    }
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: "rgba(128,128,128,0.6)", activecolor: "rgb(128,128,128)" };
    layout.autosize = true;
    delete layout.width;
    if (printing && !plot.closest(".picture")) layout.height = Math.min(layout.height, PRINTED_HEIGHT);
    if (layout.meta && layout.meta.link) {
      plot.ownShapes = layout.shapes || [];
      const ring = { symbol: "circle-open", size: 20, color: "#d55e00", line: { width: 3 } };
      figure.data.push({ type: "scatter", x: [], y: [], mode: "markers", marker: ring, hoverinfo: "skip", showlegend: false, cliponaxis: false });
    }
    maps.fit(plot, figure);
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
    const [data, layout] = spec(plot);
    plot.replaceChildren();
    plot.dataset.state = "drawn"; // set first, so that it is drawn once
    await Plotly.newPlot(plot, data, layout, CONFIG);
    attach(plot);
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
  async function redraw(some) {
    for (const plot of some) await Plotly.react(plot, ...spec(plot), CONFIG);
  }
  const retheme = () => redraw(plots.filter(drawn));
  let resized;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => redraw(plots.filter((plot) => drawn(plot) && maps.isOutdated(plot))), 200);
  });

  // ---- print: the maps are drawn in light colors and in the width of the paper, all parts are open ----
  const PRINTED_HEIGHT = 375; // pixels, so that a page has two studies
  const PRINTED = '.panels.picture .plot, .panels.map > .panel:first-child .plot, .panel[id^="map-"] .plot';
  let opened = [];
  function beginPrint() {
    printing = true;
    document.documentElement.classList.add("printing");
    opened = [...document.querySelectorAll("details.study, .finding details")].filter((part) => !part.open);
    for (const part of opened) part.open = true;
    for (const plot of plots.filter((each) => each.matches(PRINTED) && !each.closest("[hidden]"))) {
      if (drawn(plot)) Plotly.react(plot, ...spec(plot), CONFIG);
      else draw(plot);
    }
  }
  function endPrint() {
    printing = false;
    document.documentElement.classList.remove("printing");
    for (const part of opened) part.open = false;
    redraw(plots.filter((plot) => drawn(plot) && plot.matches(PRINTED)));
  }

  function begin() {
    beginFilters();
    markCurrent();
    reveal(location.hash.startsWith("#?") ? "" : location.hash);
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
    addEventListener("beforeprint", beginPrint);
    addEventListener("afterprint", endPrint);
  }
  return { begin };
})();
