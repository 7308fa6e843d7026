"use strict";
// Plays what policies did in one world: a cursor moves over the arms, the ribbons of pulled arms, and the regret.
(() => {
  const byId = (id) => document.getElementById(id);
  const run = JSON.parse(byId("run").textContent);
  const stage = byId("stage"), plots = byId("plots"), slider = byId("at"), tip = byId("tip");
  const ribbons = [...document.querySelectorAll(".ribbon")];
  const last = run.ends.length - 1;
  const SECONDS = 16; // for all steps at normal speed
  const MARKS = ["●", "■", "◆", "▲", "✚", "✖", "▼"];
  const DASHES = { solid: [], dash: [7, 4], dot: [1.5, 4], dashdot: [8, 4, 1.5, 4], longdash: [13, 5], longdashdot: [13, 4, 1.5, 4] };
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");

  let world = run.worlds[0];
  let at = last; // column of the cursor
  let pointed = -1; // column under the pointer
  let chosen = -1; // change that is shown
  let playing = 0; // identifier of the next animation frame or timer
  let look = {}; // colors of the current theme, and cached drawings

  // ---- text ----
  const counts = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const minus = (text) => text.replace(/^-(?=[0.,]*$)/, "").replace("-", "−");
  const count = (value) => minus(counts.format(value));
  const decimals = (most) => (most >= 1000 ? 0 : most >= 20 ? 1 : most >= 1 ? 2 : 4);
  function number(value, most) {
    return minus(new Intl.NumberFormat("en", { minimumFractionDigits: decimals(most), maximumFractionDigits: decimals(most) }).format(value));
  }
  const percent = (share) => `${Math.round(100 * share)} %`;
  const armName = (arm) => run.arms[arm];
  const shortName = (name) => name.replace(/ \(.*\)$/, ""); // without the file of its parameters
  const regretText = (policy, column) => number(world.regret[policy][column], look.highest);
  const hitShare = (policy, column) => world.hits[policy][column] / run.ends[column];
  function stepText(column) {
    const first = column ? run.ends[column - 1] + 1 : 1, end = run.ends[column];
    return first === end ? `Step ${count(end)}` : `Steps ${count(first)}–${count(end)}`;
  }
  const stepsText = (steps) => (steps === 1 ? "1 step" : `${count(steps)} steps`);
  const columnOf = (step) => run.ends.findIndex((end) => end >= step);

  // ---- colors ----
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function mix(color, other, share) {
    const parts = [color, other].map((hex) => [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16)));
    return `rgb(${parts[0].map((value, place) => Math.round(value * (1 - share) + parts[1][place] * share)).join(" ")})`;
  }
  function colorOf(arm) {
    const colors = run.colors[dark.matches ? "dark" : "light"], place = world.drawn.indexOf(arm), many = colors.length;
    if (place < 0 || place >= 2 * many) return look.other;
    return place < many ? colors[place] : mix(colors[place - many], "#1b222c", 0.48);
  }
  function refresh() {
    look = { ink: variable("--ink"), soft: variable("--soft"), line: variable("--line"), card: variable("--card"), other: variable("--other") };
    const means = world.means.flat().filter((value) => value !== null), regret = world.regret.flat();
    const extreme = (values, choose) => values.reduce((a, b) => choose(a, b)); // too many values for arguments
    look.means = [extreme(means, Math.min), extreme(means, Math.max)];
    look.regret = [Math.min(0, extreme(regret, Math.min)), Math.max(1e-9, extreme(regret, Math.max))];
    look.highest = Math.max(-look.regret[0], look.regret[1]);
    look.bands = ribbons.map((_, policy) => ({ pulls: strip(world.pulls[policy]), best: strip(world.best) }));
    draw();
  }
  function strip(arms) {
    const canvas = document.createElement("canvas");
    canvas.width = arms.length;
    canvas.height = 1;
    const context = canvas.getContext("2d");
    arms.forEach((arm, column) => {
      context.fillStyle = colorOf(arm);
      context.fillRect(column, 0, 1, 1);
    });
    return canvas;
  }

  // ---- geometry ----
  const gutter = () => (plots.clientWidth < 560 ? 52 : 128);
  function open(canvas) {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    return { context, width: width - gutter(), full: width, height };
  }
  const middle = (column) => (column ? run.ends[column - 1] + run.ends[column] : run.ends[0]) / 2;
  const xOf = (steps, width) => (steps / run.horizon) * width;
  const edge = (column, width) => xOf(run.ends[column], width);
  function ticks(low, high, most) {
    const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough);
    const first = Math.ceil(low / step - 1e-9), values = [];
    for (let place = first; place * step <= high + 1e-9 * step; place++) values.push(place * step);
    return { values, step };
  }
  function clip(context, text, room) {
    if (context.measureText(text).width <= room) return text;
    while (text.length > 1 && context.measureText(`${text}…`).width > room) text = text.slice(0, -1);
    return `${text}…`;
  }
  function spread(places, gap, low, high) {
    const order = places.map((_, index) => index).sort((a, b) => places[a] - places[b]);
    let before = low - gap;
    for (const index of order) before = places[index] = Math.max(places[index], before + gap);
    let after = high + gap;
    for (const index of order.reverse()) after = places[index] = Math.min(places[index], after - gap);
    return places;
  }

  // ---- drawing ----
  function grid(area, low, high, y) {
    const { context, width } = area;
    context.fillStyle = look.line;
    for (const value of ticks(low, high, 5).values) context.fillRect(0, Math.round(y(value)), width, 1);
  }
  function scale(area, low, high, y, sign = 1) {
    const { context } = area, { values, step } = ticks(low, high, 5), digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    context.textAlign = "left";
    context.lineWidth = 4;
    context.strokeStyle = look.card; // the text remains readable where a line crosses it
    context.fillStyle = look.soft;
    for (const value of values) {
      if ((!value && !low) || y(value) < 12) continue; // at the bottom, the axis of steps has a label
      context.strokeText(minus(format.format(sign * value)), 0, y(value) - 7);
      context.fillText(minus(format.format(sign * value)), 0, y(value) - 7);
    }
  }
  function dotted(area, top, bottom) {
    const { context, width } = area;
    world.changes.forEach((change, index) => {
      context.strokeStyle = index === chosen ? look.ink : look.soft;
      context.globalAlpha = index === chosen ? 1 : 0.6;
      context.lineWidth = 1;
      context.setLineDash([1, 3]);
      const x = Math.round(xOf(change.step - 1, width)) + 0.5;
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, bottom);
      context.stroke();
    });
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
  function cursor(area, top, bottom) {
    const { context, width } = area;
    const line = (column, color, thick) => {
      context.fillStyle = color;
      context.fillRect(edge(column, width) - thick / 2, top, thick, bottom - top);
    };
    if (pointed >= 0) line(pointed, look.soft, 1);
    line(at, look.ink, 2);
  }
  function drawMeans() {
    const area = open(byId("means")), { context, width, height } = area;
    const [low, high] = look.means, room = (high - low || 1) * 0.06;
    const y = (value) => height - 4 - ((value - low + room) / (high - low + 2 * room || 1)) * (height - 12);
    grid(area, low - room, high + room, y);
    dotted(area, 0, height);
    const paint = () => {
      world.drawn.forEach((arm, place) => {
        context.strokeStyle = colorOf(arm);
        context.lineWidth = 1.3;
        context.beginPath();
        let apart = true;
        world.means[place].forEach((value, column) => {
          if (value !== null) context[apart ? "moveTo" : "lineTo"](xOf(middle(column), width), y(value));
          apart = value === null;
        });
        context.stroke();
      });
      context.lineWidth = 4;
      for (let column = 0; column <= last; ) {
        const arm = world.best[column], line = world.means[world.drawn.indexOf(arm)];
        context.strokeStyle = colorOf(arm);
        context.beginPath();
        let apart = true;
        for (; column <= last && world.best[column] === arm; column++) {
          let value = line ? line[column] : null;
          // a column of several steps may contain the change: its mean is in between
          const inside = [column - 1, column + 1].find((other) => world.best[other] === arm);
          if (value !== null && run.horizon > last + 1 && inside !== undefined && (world.best[column - 1] !== arm || world.best[column + 1] !== arm)) value = line[inside] ?? value;
          if (value !== null) {
            if (apart) context.moveTo(column ? edge(column - 1, width) : 0, y(value));
            context.lineTo(edge(column, width), y(value));
          }
          apart = value === null;
        }
        context.stroke();
      }
    };
    context.globalAlpha = 0.22;
    paint();
    context.globalAlpha = 1;
    context.save();
    context.beginPath();
    context.rect(0, 0, edge(at, width), height);
    context.clip();
    paint();
    context.restore();
    scale(area, low - room, high + room, y, run.costs ? -1 : 1);
    const named = world.drawn.map((arm, place) => ({ arm, value: world.means[place][at] })).filter((each) => each.value !== null);
    const places = spread(named.map((each) => y(each.value)), 13, 7, height - 7);
    named.forEach((each, index) => {
      const best = each.arm === world.best[at];
      context.fillStyle = colorOf(each.arm);
      context.fillRect(width + 6, places[index] - 4, 9, 9);
      context.fillStyle = best ? look.ink : look.soft;
      context.font = context.font.replace(/^(bold )?/, best ? "bold " : "");
      context.textAlign = "left";
      const name = gutter() < 100 ? String(run.arms[each.arm]).replace(/^arm /, "") : armName(each.arm);
      const text = best && context.measureText(`${name}, best`).width <= gutter() - 24 ? `${name}, best` : name;
      context.fillText(clip(context, text, gutter() - 24), width + 20, places[index]);
    });
    cursor(area, 0, height);
  }
  function drawRibbon(canvas, policy) {
    const area = open(canvas), { context, width } = area, { pulls, best } = look.bands[policy];
    const band = (arms, top, high) => context.drawImage(arms, 0, 0, last + 1, 1, 0, top, width, high);
    context.imageSmoothingEnabled = false;
    context.globalAlpha = 0.16;
    band(best, 0, 5);
    band(best, 27, 5);
    context.globalAlpha = 1;
    context.save();
    context.beginPath();
    context.rect(0, 0, edge(at, width), 32);
    context.clip(); // drawn as a whole, so that columns never move between pixels
    band(best, 0, 5);
    band(best, 27, 5);
    band(pulls, 6, 20);
    context.restore();
    dotted(area, 0, 32);
    if (chosen >= 0) bracket(area, policy);
    const arm = world.pulls[policy][at];
    context.fillStyle = colorOf(arm);
    context.fillRect(width + 6, 12, 9, 9);
    context.fillStyle = look.ink;
    context.textAlign = "left";
    context.fillText(clip(context, gutter() < 100 ? armName(arm).replace(/^arm /, "") : armName(arm), gutter() - 24), width + 20, 17);
    cursor(area, 0, 32);
  }
  function bracket(area, policy) {
    const { context, width } = area, change = world.changes[chosen], steps = change.recovery[policy];
    const next = world.changes[chosen + 1];
    const from = xOf(change.step - 1, width);
    const to = steps === null ? xOf(next ? next.step - 1 : run.horizon, width) : xOf(change.step - 1 + steps, width);
    context.strokeStyle = context.fillStyle = look.ink;
    context.lineWidth = 1.5;
    context.setLineDash(steps === null ? [3, 3] : []);
    context.beginPath();
    context.moveTo(from, 39.5);
    context.lineTo(Math.max(to, from + 1), 39.5);
    context.stroke();
    context.setLineDash([]);
    context.fillRect(from - 0.75, 35, 1.5, 9);
    if (steps !== null) context.fillRect(to - 0.75, 35, 1.5, 9);
    const text = steps === null ? "not recovered" : stepsText(steps), size = context.measureText(text).width;
    const right = to + 6 + size <= area.full;
    context.textAlign = right ? "left" : "right";
    context.fillText(text, right ? to + 6 : from - 6, 40);
  }
  function drawRegret() {
    const area = open(byId("regret")), { context, width, height } = area;
    const [low, high] = look.regret, bottom = height - 20;
    const y = (value) => bottom - 2 - ((value - low) / (high - low)) * (bottom - 14);
    grid(area, low, high, y);
    dotted(area, 0, bottom);
    const inGutter = gutter() >= 100;
    world.regret.forEach((line, policy) => {
      context.strokeStyle = policy ? look.soft : look.ink;
      context.lineWidth = policy ? 1.8 : 2.6;
      context.setLineDash(DASHES[run.dashes[policy % run.dashes.length]]);
      context.beginPath();
      context.moveTo(0, y(0));
      for (let column = 0; column <= at; column++) context.lineTo(edge(column, width), y(line[column]));
      context.stroke();
    });
    context.setLineDash([]);
    scale(area, low, high, y);
    cursor(area, 0, bottom);
    const x = edge(at, width), heads = world.regret.map((line) => y(line[at]));
    heads.forEach((place, policy) => {
      context.textAlign = "center";
      context.fillStyle = policy ? look.soft : look.ink;
      context.lineWidth = 3;
      context.strokeStyle = look.card;
      context.strokeText(MARKS[policy % MARKS.length], x, place);
      context.fillText(MARKS[policy % MARKS.length], x, place);
    });
    const places = spread([...heads], 14, 8, bottom - 6);
    context.textAlign = "left";
    places.forEach((place, policy) => {
      context.font = context.font.replace(/^(bold )?/, policy ? "" : "bold ");
      context.fillStyle = policy ? look.soft : look.ink;
      const value = regretText(policy, at), room = area.full - x - 14;
      const left = room - context.measureText(` ${value}`).width - 2, names = run.policies.map(shortName);
      const unique = names.indexOf(names[policy]) === names.lastIndexOf(names[policy]);
      const fits = context.measureText(run.policies[policy]).width <= left;
      const name = clip(context, unique && !fits ? names[policy] : run.policies[policy], left);
      const text = inGutter || room > 110 ? `${name} ${value}` : value;
      context.lineWidth = 3;
      context.strokeStyle = look.card;
      context.strokeText(text, x + 9, place);
      context.fillText(text, x + 9, place);
    });
    context.font = context.font.replace(/^bold /, "");
    const { values } = ticks(0, run.horizon, width < 400 ? 3 : 6);
    const shown = values.filter((value) => value > 0 && run.horizon - value > run.horizon * 0.08);
    context.fillStyle = look.soft;
    for (const value of [...shown, run.horizon]) {
      context.textAlign = "center";
      context.fillRect(xOf(value, width) - 0.5, bottom, 1, 4);
      context.fillText(count(value), xOf(value, width), bottom + 12);
    }
    context.textAlign = "left";
    context.fillText("step 0", 0, bottom + 12);
    context.fillStyle = look.line;
    context.fillRect(0, bottom, width, 1);
  }
  function draw() {
    drawMeans();
    ribbons.forEach(drawRibbon);
    drawRegret();
    describe();
  }
  function describe() {
    slider.value = at;
    slider.setAttribute("aria-valuetext", stepText(at));
    byId("step").textContent = `Step ${count(run.ends[at])}`;
    byId("caption").textContent = `${stepText(at)}: the best arm is ${armName(world.best[at])}.`;
    [...byId("table").tBodies[0].rows].forEach((row, policy) => {
      const share = percent(hitShare(policy, at));
      row.cells[1].textContent = armName(world.pulls[policy][at]);
      row.cells[2].textContent = share;
      row.cells[3].textContent = regretText(policy, at);
      document.querySelector(`[data-now="${policy}"]`).textContent = `best arm in ${share}${gutter() < 100 ? "" : " of pulls"}`;
    });
  }

  // ---- changes ----
  const changeName = (change) => `Step ${count(change.step)}: ${armName(change.after)} becomes the best arm instead of ${armName(change.before)}`;
  function listChanges() {
    const strip = byId("changes"), body = byId("recoveries").tBodies[0];
    strip.replaceChildren();
    body.replaceChildren();
    world.changes.forEach((change, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "▾";
      button.title = changeName(change);
      button.setAttribute("aria-label", changeName(change));
      button.dataset.change = index;
      strip.append(button);
      const row = body.insertRow(), head = document.createElement("th"), link = document.createElement("button");
      row.setAttribute("role", "row");
      head.scope = "row";
      head.setAttribute("role", "rowheader");
      link.type = "button";
      link.dataset.change = index;
      link.textContent = changeName(change);
      head.append(link);
      row.append(head);
      change.recovery.forEach((steps, policy) => {
        const cell = row.insertCell();
        cell.setAttribute("role", "cell");
        cell.dataset.label = run.policies[policy];
        cell.className = "number";
        cell.textContent = steps === null ? "–" : count(steps);
      });
    });
    const notes = [run.costs && "lowest at the top", world.drawn.length < run.arms.length && `${world.drawn.length} of ${count(run.arms.length)} arms, the others are grey below`];
    byId("drawn").textContent = notes.filter(Boolean).join("; ");
    byId("all-recoveries").hidden = byId("back").disabled = byId("next").disabled = !world.changes.length;
    placeChanges();
    choose(-1);
  }
  function placeChanges() {
    const width = byId("means").clientWidth - gutter();
    for (const button of byId("changes").children) button.style.left = `${xOf(world.changes[button.dataset.change].step - 1, width)}px`;
  }
  function choose(index) {
    chosen = index;
    const text = byId("recovery"), change = world.changes[index];
    for (const button of byId("changes").children) {
      const mine = Number(button.dataset.change) === index;
      button.setAttribute("aria-pressed", mine);
      button.tabIndex = mine || (index < 0 && button.dataset.change === "0") ? 0 : -1; // one stop for the Tab key
    }
    text.classList.toggle("empty", !change);
    if (change) {
      const next = world.changes[index + 1];
      const pairs = run.policies.map((name, policy) => [name, change.recovery[policy]]);
      const steps = pairs.filter((pair) => pair[1] !== null).map(([name, value]) => `${name} ${count(value)}`);
      const never = pairs.filter((pair) => pair[1] === null).map((pair) => pair[0]);
      const parts = [changeName(change)];
      if (steps.length) parts.push(`Steps to recover: ${steps.join(", ")}`);
      if (never.length) parts.push(`Not recovered before the ${next ? "next change" : "end"}: ${never.join(", ")}`);
      text.textContent = `${parts.join(". ")}.`;
      pause();
      if (run.ends[at] < change.step || (next && run.ends[at] >= next.step)) at = next ? Math.max(columnOf(next.step) - 1, columnOf(change.step)) : last;
    } else {
      const all = world.all > world.changes.length ? ` (${world.changes.length} of ${count(world.all)} are marked)` : "";
      text.textContent = world.changes.length ? `Select a change ▾ to see how many steps each policy needs to recover${all}.` : "The best arm does not change in this world.";
    }
    draw();
  }
  function jump(direction) {
    const steps = world.changes.map((change) => change.step);
    const here = chosen >= 0 ? steps[chosen] : run.ends[at];
    const index = direction > 0 ? steps.findIndex((step) => step > here) : steps.findLastIndex((step) => step < here);
    if (index >= 0) choose(index);
    else if (chosen < 0 && steps.length) choose(direction > 0 ? 0 : steps.length - 1);
  }

  // ---- time ----
  function go(column) {
    at = Math.min(last, Math.max(0, Math.round(column)));
    draw();
  }
  function pause() {
    cancelAnimationFrame(playing);
    clearTimeout(playing);
    playing = 0;
    stage.dataset.playing = "no";
    byId("play").textContent = "Play";
  }
  function play() {
    if (at >= last) go(0);
    choose(-1);
    stage.dataset.playing = "yes";
    byId("play").textContent = "Pause";
    let before = performance.now(), exact = at;
    const advance = (now) => {
      exact += ((now - before) / 1000 / SECONDS) * Number(byId("speed").value) * (last + 1);
      before = now;
      if (Math.abs(exact - at) > 1 || exact >= last) {
        if (Math.round(exact) < at) exact = at; // moved by hand
        go(exact);
      }
      if (at >= last) pause();
      else schedule();
    };
    const schedule = () => {
      playing = still.matches ? setTimeout(() => advance(performance.now()), 1000) : requestAnimationFrame(advance);
    };
    scrubbed = () => { exact = at; };
    schedule();
  }
  let scrubbed = () => {};
  const toggle = () => (playing ? pause() : play());
  function move(column) {
    go(column);
    scrubbed();
  }

  // ---- pointer and keys ----
  function columnAt(event) {
    const box = byId("means").getBoundingClientRect(), share = (event.clientX - box.left) / (box.width - gutter());
    return Math.min(last, Math.max(0, columnOf(Math.max(1, Math.min(run.horizon, Math.ceil(share * run.horizon))))));
  }
  function line(color, ...texts) {
    const row = document.createElement("p");
    if (color) {
      const chip = document.createElement("i");
      chip.style.background = color;
      row.append(chip);
    }
    for (const text of texts) row.append(Object.assign(document.createElement("span"), { textContent: text }));
    return row;
  }
  function hover(event) {
    pointed = columnAt(event);
    const best = world.best[pointed], place = world.drawn.indexOf(best), mean = place < 0 ? null : world.means[place][pointed];
    const value = mean === null ? "" : number(run.costs ? -mean : mean, Math.max(...look.means.map(Math.abs)));
    tip.replaceChildren(
      line("", stepText(pointed)),
      line(colorOf(best), `best: ${armName(best)}`, value && `mean ${value}`),
      ...run.policies.map((name, policy) => line(colorOf(world.pulls[policy][pointed]), `${name}: ${armName(world.pulls[policy][pointed])}`, `regret ${regretText(policy, pointed)}`)),
    );
    tip.hidden = false;
    const box = plots.getBoundingClientRect(), x = event.clientX - box.left, wide = tip.offsetWidth;
    tip.style.left = `${Math.max(4, Math.min(box.width - wide - 4, x + 16 + wide > box.width ? x - wide - 16 : x + 16))}px`;
    tip.style.top = `${Math.max(4, Math.min(box.height - tip.offsetHeight - 4, event.clientY - box.top + 16))}px`;
    draw();
  }
  function leave() {
    pointed = -1;
    tip.hidden = true;
    draw();
  }
  let held = false;
  plots.addEventListener("pointerdown", (event) => {
    if (event.button || event.target.tagName !== "CANVAS") return;
    held = true;
    plots.setPointerCapture(event.pointerId);
    move(columnAt(event));
  });
  plots.addEventListener("pointermove", (event) => {
    if (held) move(columnAt(event));
    if (event.pointerType === "mouse" && (held || event.target.tagName === "CANVAS")) hover(event);
    else if (pointed >= 0) leave();
  });
  for (const end of ["pointerup", "pointercancel"]) plots.addEventListener(end, () => { held = false; });
  plots.addEventListener("pointerleave", leave);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-change]");
    if (button) choose(Number(button.dataset.change) === chosen && button.closest(".strip") ? -1 : Number(button.dataset.change));
  });
  byId("play").addEventListener("click", toggle);
  byId("back").addEventListener("click", () => jump(-1));
  byId("next").addEventListener("click", () => jump(1));
  slider.addEventListener("input", () => move(Number(slider.value)));
  for (const radio of document.querySelectorAll('[name="world"]')) {
    radio.addEventListener("change", () => {
      world = run.worlds[radio.value];
      for (const why of document.querySelectorAll(".why")) why.hidden = why.dataset.world !== radio.value;
      pause();
      refresh();
      listChanges();
    });
  }
  const KEYS = { ArrowLeft: (size) => move(at - size), ArrowRight: (size) => move(at + size), Home: () => move(0), End: () => move(last), ",": () => jump(-1), ".": () => jump(1) };
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || target.closest("select, [type=radio], .wide")) return; // which use these keys
    if (key === " " && !target.closest("button, summary, a")) toggle();
    else if (KEYS[key]) KEYS[key](event.shiftKey ? 10 : 1);
    else return;
    event.preventDefault();
  });

  slider.max = last;
  dark.addEventListener("change", refresh);
  new ResizeObserver(() => { placeChanges(); draw(); }).observe(plots);
  refresh();
  listChanges();
})();
