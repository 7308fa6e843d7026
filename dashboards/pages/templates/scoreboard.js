"use strict";
// The scoreboard of the reproduction page: filters, and a tip with the numbers of the tile under the pointer.
(() => {
  const byId = (id) => document.getElementById(id);
  const board = byId("board"), form = byId("board-filter"), tip = byId("tip");
  const tiles = [...board.querySelectorAll("a.tile")], lines = [...document.querySelectorAll(".line")];
  const lineOf = (tile) => byId(tile.hash.slice(1));

  // ---- filters ----
  function filter() {
    const { verdict, protocol } = Object.fromEntries(new FormData(form));
    const matches = ({ dataset }) =>
      (!verdict || dataset.verdict === verdict)
      && (!protocol || (protocol === "differ" ? "differ" in dataset : dataset.protocol === protocol));
    for (const tile of tiles) tile.toggleAttribute("data-off", !matches(tile));
    for (const line of lines) line.hidden = !matches(line);
    for (const pair of board.querySelectorAll(".pair")) pair.hidden = !pair.querySelector("a.tile:not([data-off])");
    for (const group of board.querySelectorAll(".tiles")) group.hidden = !group.querySelector(".pair:not([hidden])");
    for (const claim of document.querySelectorAll(".claim")) claim.hidden = !claim.querySelector(".line:not([hidden])");
    for (const group of document.querySelectorAll("details[data-group]")) {
      group.hidden = !group.querySelector(".claim:not([hidden])");
      group.open = Boolean(verdict || protocol) && !group.hidden;
    }
    const shown = lines.filter((line) => !line.hidden).length;
    byId("board-shown").textContent = `${shown} of ${lines.length} verdicts shown`;
    board.querySelector(".empty-board").hidden = shown > 0;
    enter();
  }

  // ---- arrow keys move between tiles; the tab key enters and leaves the board ----
  const visible = () => tiles.filter((tile) => !tile.matches("[data-off], [hidden] *"));
  function enter(tile = visible()[0]) {
    for (const each of tiles) each.tabIndex = each === tile ? 0 : -1;
  }
  board.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step || !event.target.matches("a.tile")) return;
    const all = visible(), next = all[all.indexOf(event.target) + step];
    event.preventDefault();
    if (!next) return;
    enter(next);
    next.focus();
  });

  // ---- the tip ----
  function add(text, name) {
    const part = document.createElement("p");
    part.className = name;
    part.textContent = text;
    tip.append(part);
  }
  const words = (part) => part.textContent.replace(/\s+/g, " ").trim();
  function show(tile) {
    const line = lineOf(tile), claim = line.closest(".claim");
    tip.replaceChildren();
    add(words(claim.querySelector(".claim-head a")), "tip-claim");
    add(words(claim.querySelector(".more")), "more");
    add(`${words(line.querySelector(".protocol"))}: ${words(line.querySelector(".verdict"))}`, "tip-verdict");
    const ours = words(line.querySelector(".ours"));
    if (ours !== "–") add(`measured ${ours}`, "tip-ours");
    add(words(line.querySelector(".reason")), "more");
    tip.hidden = false;
    const box = tile.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const below = box.bottom + 8 + own.height < innerHeight;
    tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - own.width - 8))}px`;
    tip.style.top = `${below ? box.bottom + 8 : Math.max(8, box.top - own.height - 8)}px`;
  }
  function hide() { tip.hidden = true; }
  for (const [event, action] of [["mouseover", show], ["focusin", show], ["mouseout", hide], ["focusout", hide]]) {
    board.addEventListener(event, ({ target }) => {
      const tile = target.closest("a.tile");
      if (tile) action(tile);
    });
  }
  addEventListener("scroll", hide, { passive: true });

  form.hidden = false;
  form.addEventListener("input", filter);
  filter();
})();
