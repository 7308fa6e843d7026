"use strict";
// Sensitivity maps: panels in fewer columns on narrow screens, numbers only in cells with room for them, and the line below a map, which shows and copies a cell.
window.ravenlabMaps = (() => {
  const PANEL = 270; // the least width of a panel in pixels
  const AROUND = 80; // pixels left and right of the cells

  // ---- fitting the width ----
  const metaOf = (layout) => layout.meta || {};
  function measure(layout, width) {
    const { panels, link } = metaOf(layout);
    if (panels) return Math.min(panels.columns, Math.max(1, Math.floor(width / PANEL)));
    if (link && link.kind === "map") return (width - AROUND) / link.axes[0].length >= link.room;
    return null;
  }
  function arrange(layout, columns) {
    const { panels } = layout.meta, { height, gap, gutter, count } = panels;
    if (columns === panels.columns) return;
    const rows = Math.ceil(count / columns), inner = rows * height + (rows - 1) * gap;
    const space = columns > 1 ? gutter * (panels.columns / columns) : 0, wide = (1 - space * (columns - 1)) / columns;
    for (let i = 0; i < count; i++) {
      const axis = i ? String(i + 1) : "", row = Math.floor(i / columns), left = (i % columns) * (wide + space);
      const top = 1 - (row * (height + gap)) / inner;
      layout[`xaxis${axis}`].domain = [left, Math.min(1, left + wide)];
      layout[`yaxis${axis}`].domain = [Math.max(0, top - height / inner), top];
    }
    layout.height = inner + layout.margin.t + layout.margin.b + 16 * (panels.columns - columns);
    layout.margin.b += 16 * (panels.columns - columns); // the legend has more lines
  }
  function fit(plot, figure) {
    plot.fitted = measure(figure.layout, plot.clientWidth);
    if (metaOf(figure.layout).panels) arrange(figure.layout, plot.fitted);
    else if (plot.fitted === false) for (const trace of figure.data) if (trace.mode === "text") trace.visible = false;
  }
  const isOutdated = (plot) => plot.layout !== undefined && plot.clientWidth > 0 && measure(plot.layout, plot.clientWidth) !== plot.fitted;

  // ---- titles of panels: Plotly drops the addresses of links within the page, and redraws titles ----
  document.addEventListener("click", (event) => {
    const note = event.target.closest("a") && event.target.closest(".annotation");
    if (!note) return;
    const address = /href="(#[^"]*)"/.exec(note.closest(".plot").layout.annotations[note.dataset.index].text);
    if (address) location.hash = address[1];
  }, true);

  // ---- the selected cell ----
  const selected = new WeakMap(); // by group of linked figures
  const linkOf = (plot) => plot.layout && plot.layout.meta && plot.layout.meta.link;
  const groupOf = (plot) => (document.querySelector(".first-map") ? document.querySelector("main") : plot.closest(".study"));
  const paramsAt = (link, values) => ({ ...Object.fromEntries(link.names.map((name, i) => [name, values[i]])), ...link.fixed });
  function pointAt(plot, place) {
    const link = linkOf(plot), params = paramsAt(link, place.map((each, i) => link.axes[i][each]));
    const cells = plot.data.find((trace) => trace.type === "heatmap");
    if (cells) {
      const [value, ...text] = cells.customdata[place[1] || 0][place[0]];
      return { params, value, text };
    }
    const line = plot.data.find((trace) => trace.meta && trace.meta.line === (place.length > 1 ? link.axes[1][place[1]] : null));
    return line && { params, value: line.y[place[0]], text: line.customdata[place[0]] };
  }
  function describe(group, point) {
    const line = group.querySelector(".cell"), plot = line && line.parentElement.querySelector(".plot");
    if (!line || !point || !point.text || !linkOf(plot)) return;
    const [params, regret, difference] = point.text, recommended = difference === "none";
    line.querySelector(".cell-params").textContent = params;
    line.querySelector(".cell-state").hidden = !recommended;
    line.querySelector(".cell-regret").textContent = `mean regret ${regret}`;
    line.querySelector(".cell-difference").hidden = recommended;
    line.querySelector(".cell-difference").textContent = `${linkOf(plot).difference}: ${difference}`;
    line.querySelector("button").dataset.values = JSON.stringify(point.params);
  }
  function select(group, point) {
    if (!point.text) return;
    selected.set(group, point);
    describe(group, point);
  }
  const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  function move(line, key) {
    const plot = [...line.parentElement.querySelectorAll(".plot")].find(linkOf);
    if (!plot || !STEPS[key]) return null;
    const link = linkOf(plot), values = JSON.parse(line.querySelector("button").dataset.values);
    const place = link.names.map((name, i) => {
      const next = link.axes[i].indexOf(values[name]) + STEPS[key][i];
      return Math.min(Math.max(next, 0), link.axes[i].length - 1);
    });
    const point = pointAt(plot, place);
    if (!point) return null;
    select(groupOf(plot), point);
    const shown = [...line.querySelectorAll("p > :not([hidden])")].map((part) => part.textContent);
    line.querySelector("output").textContent = shown.join("; ");
    return [groupOf(plot), point];
  }
  return { fit, isOutdated, groupOf, paramsAt, describe, select, move, selectedIn: (group) => selected.get(group) || null };
})();
