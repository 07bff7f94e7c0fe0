// Shows ablations of a language model, with a button for each head and feed-forward layer.
// The panel shows the predicted words before and after, and the contributions of all parts to a prediction.
import { button, element, isDrawn, keepFocus, selectOf, setColours, stateOf, svgShape } from "../dom.js";
import { said, spellNumber, spellWholePercent } from "../flow/words.js";
import { floatsOf, unpacked } from "../pixels.js";
import { hintOf } from "../touch.js";
import { mapImage, matrixOf, readCells } from "./maps.js";

const LEVELS = 253; // the number of colours in `fills`

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
 * @property {string[]} fills the colours of the pushes, from the lowest to the highest
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
  const weights = floatsOf(shown.weights);
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
  const both = element("div", "both", [boardOf(view, shown), outcomesOf(view, shown)]);
  root.replaceChildren(both);
  if (shown.path) root.append(pathOf(view, shown));
  refocus();
}

// ---- the switches ---------------------------------------------------------------------------------------------------
function boardOf(view, shown) {
  const { tiles, text, norms } = shown;
  const layers = Object.entries(text.layers).flatMap(([layer, title]) => {
    const own = tiles.filter((tile) => String(tile.layer) === layer);
    const switches = own.map((tile) => tileOf(view, shown, tile));
    return [element("h5", "title", title), element("div", "layer", { style: `--columns: ${own.length}` }, switches)];
  });
  const box = element("input", "", {
    type: "checkbox", checked: norms, onchange: () => view.trigger("norms", box.checked), place: "norms",
  });
  const hold = element("label", "hold", { title: text.norms_why }, [box, element("span", "", text.norms)]);
  const resets = { textContent: text.again, disabled: !tiles.some(({ kind }) => kind), place: "again" };
  return element("div", "board", [
    ...layers,
    element("div", "line", [hold, button("again", resets, () => view.trigger("again", true))]),
    element("p", "why", text.norms_why),
    ...tiles.filter(({ kind }) => kind === "mask").map((tile) => drawnOf(view, shown, tile)),
  ]);
}

// Returns the tile of a head or a feed-forward layer.
// A click on the tile's map ablates or restores the head, and a select box offers other interventions.
function tileOf(view, shown, tile) {
  const { part, head, name, short, kind, kinds } = tile;
  const { text } = shown;
  const change = (kind) => view.trigger("kind", { part, head, kind });
  const title = said(text.turn_off, { name });
  const look = { title, ariaLabel: title, ariaPressed: String(kind === "off"), place: `switch ${part} ${head}` };
  const picture = tile.map ? imageOf(shown, tile) : netOf();
  const press = button("switch", look, () => change(kind ? null : "off"), [picture]);
  const choice = selectOf([["", text.own], ...kinds.map((each) => [each, shown.kinds[each]])], {
    className: "kind", ariaLabel: name, place: `kind ${part} ${head}`, value: kind ?? "",
    onchange: () => change(choice.value || null),
  });
  return element("div", `tile ${kind ?? ""}`, [press, element("div", "short", short), choice]);
}

// Returns a drawing that represents a feed-forward layer: a few dots, more, and a few again, all connected.
function netOf() {
  const column = (x, count) => Array.from({ length: count }, (_, i) => [x, 50 + (i - (count - 1) / 2) * 17]);
  const [few, more, again] = [column(18, 3), column(50, 5), column(82, 3)];
  const net = svgShape("svg", { class: "net", viewBox: "0 0 100 100" });
  for (const [left, right] of [[few, more], [more, again]])
    for (const [x1, y1] of left) for (const [x2, y2] of right) net.append(svgShape("line", { x1, y1, x2, y2 }));
  for (const [cx, cy] of [...few, ...more, ...again]) net.append(svgShape("circle", { cx, cy, r: 4 }));
  return net;
}

const imageOf = ({ words, reach, palette }, { map, allowed }) =>
  mapImage(matrixOf(map, { rows: words.length, columns: words.length, reach, allowed }), palette);

// Returns the large attention map of a head in which the visitor blocks and allows pairs of words.
// A click on a cell, or the Enter key, blocks or allows its pair of words.
function drawnOf(view, shown, tile) {
  const { words, text } = shown;
  const side = words.length;
  const name = `draw ${tile.part} ${tile.head}`;
  const told = element("div", "told", { ariaLive: "polite", textContent: hintOf(text, "draw") });
  const mark = element("span", "mark");
  const look = { tabIndex: 0, role: "application", ariaLabel: `${tile.name}: ${text.draw}`, place: name };
  const frame = element("div", "frame", look, [imageOf(shown, tile), mark]);
  view.at ??= {};
  const at = () => (view.at[name] ?? [side - 1, 0]).map((place) => Math.min(place, side - 1));
  const tell = (query, key) => {
    view.at[name] = [query, key];
    Object.assign(mark.style, {
      top: `${(100 * query) / side}%`, left: `${(100 * key) / side}%`, width: `${100 / side}%`,
      height: `${100 / side}%`,
    });
    told.textContent = said(text.cell, {
      query: words[query], key: words[key], number: spellWholePercent(tile.map[query * side + key]),
    });
  };
  const block = () => {
    const [query, key] = at();
    const isDrawn = tile.blocked.some(([t, s]) => t === query && s === key);
    if (isDrawn || tile.allowed[query * side + key])
      view.trigger("pair", { part: tile.part, head: tile.head, pair: [query, key] });
  };
  readCells(frame, { rows: side, columns: side, at, tell, act: block });
  if (view.at[name]) tell(...at());
  const labelled = element("div", "labelled", [labelsOf(words, "top"), labelsOf(words, "left"), frame]);
  return element("figure", "drawn", [element("figcaption", "", tile.name), labelled, told]);
}

const labelsOf = (words, side) =>
  element("div", `labels ${side}`, { ariaHidden: "true" }, words.map((word) => element("span", "", word)));

// ---- before and after -----------------------------------------------------------------------------------------------
function outcomesOf(view, shown) {
  const all = element("div", "outcomes", shown.outcomes.map((outcome) => outcomeOf(view, shown, outcome)));
  if (shown.moved) all.append(movedOf(view, shown));
  return all;
}

function outcomeOf(view, { text }, { title, rows, told, word, share, alone, alone_title }) {
  const more = element("details", "alone", { open: view.open?.[title] ?? false }, [
    element("summary", "", alone_title), ...alone.map((each) => aloneRow(view, text, share, word, each)),
  ]);
  more.ontoggle = () => (view.open = { ...view.open, [title]: more.open });
  return element("figure", "outcome", [
    element("figcaption", "", title), keyOf(text), ...rows.map((each) => pairRow(view, text, each)),
    element("p", "told", { textContent: told, ariaLive: "polite" }), more,
  ]);
}

const keyOf = ({ before, after }) =>
  element("div", "key", [
    element("span", "swatch before"), element("span", "", before), element("span", "swatch after"),
    element("span", "", after),
  ]);

const barsOf = (before, after) =>
  element("span", "bars", [
    element("span", "bar before", { style: `width: ${100 * Math.min(1, before)}%` }),
    element("span", "bar after", { style: `width: ${100 * Math.min(1, after)}%` }),
  ]);

const numbersOf = ({ pair }, before, after) =>
  said(pair, { before: spellWholePercent(before), after: spellWholePercent(after) });

function pairRow(view, text, { word, before, after, cell }) {
  const numbers = numbersOf(text, before, after);
  const opens = cell && {
    textContent: numbers, title: text.open, place: `number ${cell.index.at(-1)}`,
    ariaLabel: `${word}: ${numbers}. ${text.open}`,
  };
  return element("div", "row", [
    element("span", "word", { textContent: word, title: word }), barsOf(before, after),
    cell ? button("numbers", opens, () => view.trigger("opened", cell)) : element("span", "numbers", numbers),
  ]);
}

function aloneRow(view, text, before, word, { part, head, name, share }) {
  const look = { textContent: name, title: said(text.turn_off, { name }), place: `alone ${word} ${part} ${head}` };
  return element("div", "row", [
    button("word", look, () => view.trigger("kind", { part, head, kind: "off" })), barsOf(before, share),
    element("span", "numbers", numbersOf(text, before, share)),
  ]);
}

// ---- changed weights ------------------------------------------------------------------------------------------------
const movedOf = (view, { text, moved: { title, told, rows } }) =>
  element("figure", "outcome moved", [
    element("figcaption", "", title), element("p", "told", { textContent: told, ariaLive: "polite" }),
    ...(rows.length ? [keyOf(text)] : []), ...rows.map((each) => movedRow(view, text, each)),
  ]);

function movedRow(view, text, { name, pair, before, after, opens }) {
  const numbers = numbersOf(text, before, after);
  const title = said(text.open_head, { name });
  const look = { title, ariaLabel: `${pair}: ${numbers}. ${title}`, place: `moved ${opens} ${pair}` };
  return element("div", "row", [
    button("word", look, () => view.trigger("head", opens), [element("span", "head", name), element("span", "", pair)]),
    barsOf(before, after), element("span", "numbers", numbers),
  ]);
}

// ---- the path of a prediction ---------------------------------------------------------------------------------------
function pathOf(view, shown) {
  const { path, text, fills } = shown;
  const most = Math.max(...path.rows.flatMap(({ by_word }) => by_word ?? []).map(Math.abs));
  const farthest = Math.max(...path.rows.map(({ push }) => Math.abs(push)));
  const shade = (number) => fills[Math.round(((number / most + 1) / 2) * (LEVELS - 1))];
  const across = path.words.map((word) =>
    element("th", "across", { scope: "col", title: word }, [element("span", "", word)]),
  );
  const head = element("tr", "", [element("th", "", text.part), ...across, element("th", "sum", text.path_sum)]);
  const lines = path.rows.map((row, i) => {
    const isFirst = row.layer !== (path.rows[i - 1]?.layer ?? 0);
    const named = { textContent: nameOf(shown, row) };
    const name = row.opens
      ? button("name", named, () => view.trigger("head", row.opens))
      : element("span", "", named);
    const number = { textContent: spellNumber(row.push), title: text.open, place: `push ${row.part}` };
    const width = `width: ${(60 * Math.abs(row.push)) / farthest}px`;
    return element("tr", isFirst ? "first" : "", [
      element("th", "", { scope: "row" }, [name]),
      ...(row.by_word?.map((push, s) => cellOf(view, shown, row, push, s, shade)) ?? [noneOf(path)]),
      element("td", "sum", [
        button("number", number, () => view.trigger("opened", row.cell)),
        element("span", row.push < 0 ? "beam down" : "beam", { style: width }),
      ]),
    ]);
  });
  const last = element("tr", "first whole", [
    element("th", "", { textContent: "Σ", scope: "row" }), noneOf(path),
    element("td", "sum", [element("span", "number", spellNumber(path.sum))]),
  ]);
  return element("div", "path", [
    element("h5", "", path.title), element("p", "why", path.about), element("p", "told", path.told),
    element("div", "wide", { tabIndex: 0, role: "region", ariaLabel: path.title }, [
      element("table", "pushes", [head, ...lines, last]),
    ]),
  ]);
}

const noneOf = (path) => element("td", "none", { colSpan: path.words.length });

const nameOf = ({ text }, { name, layer }) => (layer ? `${layer} · ${name}` : name);

// Returns a table cell: what a part of the model adds to the logit through one attended word.
// The tooltip of the cell shows the number, and a click opens it.
function cellOf(view, { path, text }, { by_word_cell, name, layer }, push, s, shade) {
  const title = `${path.words[s]}: ${spellNumber(push)}`;
  const look = { title, ariaLabel: `${layer} · ${name}, ${title}. ${text.open}`, tabIndex: -1 };
  const open = () => view.trigger("opened", { ...by_word_cell, index: [...by_word_cell.index, s] });
  return element("td", "push", { style: `background: ${shade(push)}` }, [button("number", look, open)]);
}
