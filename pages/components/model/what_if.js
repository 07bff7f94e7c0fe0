// Ablations of a language model: a switch for each head and feed-forward layer, the predicted words before and after,
// and the contributions of all parts to a prediction.
import { button, element, isDrawn, keepFocus, setColours, stateOf, svgShape } from "../dom.js";
import { said, spellNumber, spellWholePercent } from "../flow/words.js";
import { unpacked } from "../pixels.js";
import { LEVELS, mapImage } from "./maps.js";

/**
 * @typedef {object} WhatIf
 * @property {string[]} words
 * @property {Tile[]} tiles the switches
 * @property {Record<string, string>} kinds kind of change -> its name
 * @property {boolean} norms whether the divisors of the norms are frozen
 * @property {boolean} upright whether words are written from top to bottom
 * @property {any[]} outcomes the words before and after
 * @property {any} moved the weights that changed; null without a change
 * @property {any} path the contributions of the parts to the prediction
 * @property {number} reach the weight with the full colour
 * @property {Record<string, string[]>} fills
 * @property {Float32Array} weights the weights of all heads
 * @property {Uint8Array} allowed whether each pair of words is allowed, of all heads
 * @property {Record<string, string>} palette
 * @property {any} text
 */

/**
 * @typedef {object} Tile a head or a feed-forward layer
 * @property {number} layer
 * @property {string} part
 * @property {number | null} head null for a feed-forward layer
 * @property {string} name
 * @property {string} short
 * @property {string | null} kind the kind of its change; null without a change
 * @property {string[]} kinds the possible kinds of its change
 * @property {Float32Array} [map] the weights of the head
 * @property {Uint8Array} [allowed]
 */

/** @param {import("../shared.js").Component<Uint8Array>} component data: a packed WhatIf */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".what-if");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  if (isDrawn(root, data)) return;
  /** @type {WhatIf} */
  const shown = unpacked(data);
  const side = shown.words.length;
  const weights = new Float32Array(shown.weights.slice().buffer);
  const area = (of, i) => of.subarray(i * side * side, (i + 1) * side * side);
  shown.tiles
    .filter(({ head }) => head !== null)
    .forEach((tile, i) => {
      tile.map = area(weights, i);
      tile.allowed = area(shown.allowed, i);
    });
  setColours(root, shown.palette, ["ground", "ink", "faint", "outline", "share", "x"]);
  root.classList.toggle("upright", shown.upright);
  const refocus = keepFocus(root);
  const both = element("div", "both");
  both.append(boardOf(view, shown), outcomesOf(view, shown));
  root.replaceChildren(both, pathOf(view, shown));
  refocus();
}

// ---- the switches ---------------------------------------------------------------------------------------------------
function boardOf(view, shown) {
  const { tiles, text, norms } = shown;
  const board = element("div", "board");
  for (const [layer, title] of Object.entries(text.layers)) {
    const own = tiles.filter((tile) => String(tile.layer) === layer);
    const row = element("div", "layer");
    row.style.setProperty("--columns", own.length);
    row.append(...own.map((tile) => tileOf(view, shown, tile)));
    board.append(element("h6", "", title), row);
  }
  const hold = element("label", "hold");
  const box = element("input", "", {
    type: "checkbox", checked: norms,
    onchange: () => view.trigger("norms", box.checked),
  });
  box.dataset.place = "norms";
  hold.append(box, element("span", "", text.norms));
  hold.title = text.norms_why;
  const again = button("again", { textContent: text.again, disabled: !tiles.some(({ kind }) => kind) }, () =>
    view.trigger("again", true),
  );
  again.dataset.place = "again";
  const line = element("div", "line");
  line.append(hold, again);
  board.append(
    line, element("p", "why", text.norms_why),
    ...tiles.filter(({ kind }) => kind === "mask").map((tile) => drawnOf(view, shown, tile)),
  );
  return board;
}

// The tile of a head or layer: a click on its map ablates or restores it; the select box below has the other changes.
function tileOf(view, shown, tile) {
  const { part, head, name, short, kind, kinds } = tile;
  const { text } = shown;
  const change = (kind) => view.trigger("kind", { part, head, kind });
  const made = element("div", `tile ${kind ?? ""}`);
  const press = button("switch", { title: said(text.turn_off, { name }) }, () => change(kind ? null : "off"));
  press.setAttribute("aria-pressed", String(kind === "off"));
  press.setAttribute("aria-label", press.title);
  press.dataset.place = `switch ${part} ${head}`;
  press.append(tile.map ? imageOf(shown, tile) : netOf());
  const choice = element("select", "kind");
  choice.append(element("option", "", { value: "", textContent: text.own }));
  choice.append(...kinds.map((each) => element("option", "", { value: each, textContent: shown.kinds[each] })));
  choice.value = kind ?? "";
  choice.setAttribute("aria-label", name);
  choice.dataset.place = `kind ${part} ${head}`;
  choice.onchange = () => change(choice.value || null);
  made.append(press, element("div", "short", short), choice);
  return made;
}

// A drawing of a feed-forward layer: few numbers, more of them, few again.
function netOf() {
  const column = (x, count) => Array.from({ length: count }, (_, i) => [x, 50 + (i - (count - 1) / 2) * 17]);
  const [few, more, again] = [column(18, 3), column(50, 5), column(82, 3)];
  const net = svgShape("svg", { class: "net", viewBox: "0 0 100 100" });
  for (const [left, right] of [[few, more], [more, again]])
    for (const [x1, y1] of left) for (const [x2, y2] of right) net.append(svgShape("line", { x1, y1, x2, y2 }));
  for (const [cx, cy] of [...few, ...more, ...again]) net.append(svgShape("circle", { cx, cy, r: 4 }));
  return net;
}

const imageOf = ({ words, reach, fills }, { map, allowed }) =>
  mapImage(map, { rows: words.length, columns: words.length, reach, fills, allowed });

// The large map of a head in which a click on a cell, or Enter, blocks that pair of words or allows it again.
function drawnOf(view, shown, tile) {
  const { words, text } = shown;
  const side = words.length;
  const figure = element("figure", "drawn");
  const told = element("div", "told", { ariaLive: "polite", textContent: text.draw });
  const frame = element("div", "frame", { tabIndex: 0, role: "application", ariaLabel: `${tile.name}: ${text.draw}` });
  const mark = element("span", "mark");
  frame.dataset.place = `draw ${tile.part} ${tile.head}`;
  frame.append(imageOf(shown, tile), mark);
  view.at ??= {};
  const at = () => view.at[frame.dataset.place] ?? [side - 1, 0];
  const tell = (row, column) => {
    const [query, key] = [row, column].map((place) => Math.min(side - 1, Math.max(0, place)));
    view.at[frame.dataset.place] = [query, key];
    Object.assign(mark.style, {
      top: `${(100 * query) / side}%`, left: `${(100 * key) / side}%`, width: `${100 / side}%`,
      height: `${100 / side}%`,
    });
    told.textContent = said(text.cell, {
      query: words[query], key: words[key], number: spellWholePercent(tile.map[query * side + key]),
    });
  };
  const place = ({ clientX, clientY }) => {
    const { left, top, width, height } = frame.getBoundingClientRect();
    return [Math.floor(((clientY - top) / height) * side), Math.floor(((clientX - left) / width) * side)];
  };
  const block = () => {
    const [query, key] = at();
    const isDrawn = tile.blocked.some(([t, s]) => t === query && s === key);
    if (isDrawn || tile.allowed[query * side + key])
      view.trigger("pair", { part: tile.part, head: tile.head, pair: [query, key] });
  };
  frame.onpointermove = (event) => tell(...place(event));
  frame.onclick = (event) => {
    tell(...place(event));
    block();
  };
  frame.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) tell(at()[0] + step[0], at()[1] + step[1]);
    else if (event.key === "Enter" || event.key === " ") block();
    else return;
    event.preventDefault();
  };
  if (view.at[frame.dataset.place]) tell(...at());
  const labelled = element("div", "labelled");
  labelled.append(labelsOf(words, "top"), labelsOf(words, "left"), frame);
  figure.append(element("figcaption", "", tile.name), labelled, told);
  return figure;
}

function labelsOf(words, side) {
  const labels = element("div", `labels ${side}`, { ariaHidden: "true" });
  labels.append(...words.map((word) => element("span", "", word)));
  return labels;
}

// ---- before and after -----------------------------------------------------------------------------------------------
function outcomesOf(view, shown) {
  const all = element("div", "outcomes");
  all.append(...shown.outcomes.map((outcome) => outcomeOf(view, shown, outcome)));
  if (shown.moved) all.append(movedOf(view, shown));
  return all;
}

function outcomeOf(view, { text }, { title, rows, told, word, share, alone, alone_title }) {
  const figure = element("figure", "outcome");
  figure.append(element("figcaption", "", title), keyOf(text));
  for (const each of rows) figure.append(pairRow(view, text, each));
  const sentence = element("p", "told", { textContent: told, ariaLive: "polite" });
  const more = element("details", "alone");
  more.open = view.open?.[title] ?? false;
  more.ontoggle = () => (view.open = { ...view.open, [title]: more.open });
  more.append(element("summary", "", alone_title));
  for (const each of alone) more.append(aloneRow(view, text, share, word, each));
  figure.append(sentence, more);
  return figure;
}

function keyOf({ before, after }) {
  const key = element("div", "key");
  key.append(
    element("span", "swatch before"), element("span", "", before), element("span", "swatch after"),
    element("span", "", after),
  );
  return key;
}

function barsOf(before, after) {
  const bars = element("span", "bars");
  for (const [name, share] of [["before", before], ["after", after]]) {
    const bar = element("span", `bar ${name}`);
    bar.style.width = `${100 * share}%`;
    bars.append(bar);
  }
  return bars;
}

function pairRow(view, text, { word, before, after, cell }) {
  const row = element("div", "row");
  const numbers = said(text.pair, { before: spellWholePercent(before), after: spellWholePercent(after) });
  row.append(element("span", "word", { textContent: word, title: word }), barsOf(before, after));
  if (!cell) row.append(element("span", "numbers", numbers));
  else {
    const open = button("numbers", { textContent: numbers, title: text.open }, () => view.trigger("opened", cell));
    open.dataset.place = `number ${cell.index.at(-1)}`;
    open.setAttribute("aria-label", `${word}: ${numbers}. ${text.open}`);
    row.append(open);
  }
  return row;
}

function aloneRow(view, text, before, word, { part, head, name, share }) {
  const row = element("div", "row");
  const numbers = said(text.pair, { before: spellWholePercent(before), after: spellWholePercent(share) });
  const press = button("word", { textContent: name, title: said(text.turn_off, { name }) }, () =>
    view.trigger("kind", { part, head, kind: "off" }),
  );
  press.dataset.place = `alone ${word} ${part} ${head}`;
  row.append(press, barsOf(before, share), element("span", "numbers", numbers));
  return row;
}

// ---- changed weights ------------------------------------------------------------------------------------------------
function movedOf(view, { text, moved: { title, told, rows } }) {
  const figure = element("figure", "outcome moved");
  figure.append(
    element("figcaption", "", title), element("p", "told", { textContent: told, ariaLive: "polite" }),
  );
  if (rows.length) figure.append(keyOf(text));
  for (const each of rows) figure.append(movedRow(view, text, each));
  return figure;
}

function movedRow(view, text, { name, pair, before, after, opens }) {
  const row = element("div", "row");
  const numbers = said(text.pair, { before: spellWholePercent(before), after: spellWholePercent(after) });
  const open = button("word", { title: said(text.open_head, { name }) }, () => view.trigger("head", opens));
  open.append(element("span", "head", name), element("span", "", pair));
  open.setAttribute("aria-label", `${pair}: ${numbers}. ${open.title}`);
  open.dataset.place = `moved ${opens} ${pair}`;
  row.append(open, barsOf(before, after), element("span", "numbers", numbers));
  return row;
}

// ---- the path of a prediction ---------------------------------------------------------------------------------------
function pathOf(view, shown) {
  const { path, text, fills } = shown;
  const section = element("div", "path");
  const most = Math.max(...path.rows.flatMap(({ by_word }) => by_word ?? []).map(Math.abs));
  const farthest = Math.max(...path.rows.map(({ push }) => Math.abs(push)));
  const shade = (number) => fills.signed[Math.round(((number / most + 1) / 2) * (LEVELS - 1))];
  const table = element("table", "pushes");
  const head = element("tr", "");
  head.append(
    element("th", "", text.part),
    ...path.words.map((word) => element("th", "across", { scope: "col", title: word })),
    element("th", "sum", text.path_sum),
  );
  path.words.forEach((word, i) => head.children[i + 1].append(element("span", "", word)));
  table.append(head);
  let layer = 0;
  for (const row of path.rows) {
    const line = element("tr", row.layer === layer ? "" : "first");
    layer = row.layer;
    const name = element("th", "", { scope: "row" });
    name.append(
      row.opens
        ? button("name", { textContent: nameOf(shown, row) }, () => view.trigger("head", row.opens))
        : element("span", "", nameOf(shown, row)),
    );
    line.append(name);
    if (row.by_word) row.by_word.forEach((push, s) => line.append(cellOf(view, shown, row, push, s, shade)));
    else line.append(element("td", "none", { colSpan: path.words.length }));
    const sum = element("td", "sum");
    const open = button("number", { textContent: spellNumber(row.push), title: text.open }, () =>
      view.trigger("opened", row.cell),
    );
    open.dataset.place = `push ${row.part}`;
    const bar = element("span", row.push < 0 ? "beam down" : "beam");
    bar.style.width = `${(60 * Math.abs(row.push)) / farthest}px`;
    sum.append(open, bar);
    line.append(sum);
    table.append(line);
  }
  const last = element("tr", "first whole");
  last.append(
    element("th", "", { textContent: "Σ", scope: "row" }), element("td", "none", { colSpan: path.words.length }),
    element("td", "sum"),
  );
  last.lastChild.append(element("span", "number", spellNumber(path.sum)));
  table.append(last);
  const wide = element("div", "wide", { tabIndex: 0, role: "region", ariaLabel: path.title });
  wide.append(table);
  section.append(
    element("h5", "", path.title), element("p", "why", path.about),
    element("p", "told", path.told), wide,
  );
  return section;
}

const nameOf = ({ text }, { name, layer }) => (layer ? `${layer} · ${name}` : name);

// A cell with what a part adds to the logit through one word; the number is in its tooltip.
function cellOf(view, { path, text }, { by_word_cell, name, layer }, push, s, shade) {
  const cell = element("td", "push");
  cell.style.background = shade(push);
  const open = button("number", { title: `${path.words[s]}: ${spellNumber(push)}` }, () =>
    view.trigger("opened", { ...by_word_cell, index: [...by_word_cell.index, s] }),
  );
  open.setAttribute("aria-label", `${layer} · ${name}, ${path.words[s]}: ${spellNumber(push)}. ${text.open}`);
  open.tabIndex = -1;
  cell.append(open);
  return cell;
}
