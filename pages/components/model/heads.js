// Shows the weights of many heads as small attention maps, which the browser sorts, filters and compares.
// The component can show any model: it only needs names, words and numbers.
import { copyParts } from "../copies.js";
import { button, element, isDrawn, selectOf, setColours, stateOf } from "../dom.js";
import { Rest } from "../drag.js";
import { fullColour } from "../flow/model.js";
import { said, spellNumber, spellWholePercent } from "../flow/words.js";
import { MapOptions } from "../map_options.js";
import { floatsOf, unpacked } from "../pixels.js";
import { roving } from "../roving.js";
import { saveButtons, svgText } from "../svg_file.js";
import { HeadMap } from "../flow/head_map.js";
import { mapImage, matrixOf, readCells } from "./maps.js";

/**
 * @typedef {object} Heads
 * @property {Head[]} heads
 * @property {string[]} queries the words of the rows
 * @property {string[]} keys the words of the columns
 * @property {number[]} now the layer and the head that are open
 * @property {Record<string, string>} measures measure by which heads can be sorted -> its name
 * @property {Order | null} order the order in the link of the page; null if the link has none
 * @property {"share" | "signed" | "times"} kind how the numbers of the maps are coloured
 * @property {number} reach the number with the full colour
 * @property {Uint8Array} allowed whether each cell of a map is allowed; empty if all are
 * @property {Uint8Array} hidden whether each cell of each map is hidden; empty if none is
 * @property {any} reads the options that the maps can have; null if they have none
 * @property {string[]} other_words the words of the rows in the maps of a second run
 * @property {string[]} other_keys the words of the columns in these maps
 * @property {Float32Array} weights the weights of all heads
 * @property {Float32Array} other the weights of all heads on the second sentence
 * @property {Float32Array[]} maps the weights of each head
 * @property {Float32Array[] | null} others the weights of each head on the second sentence
 * @property {Float32Array} rolled the attention rollout of all layers
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 * @property {any} picture how the maps are saved as a picture: the texts and names of saveButtons, a label, a title and
 *   notes; null if they are saved elsewhere
 */

/** @typedef {{ by: string, least: number, from: number | null, to: number | null }} Order */

/**
 * @typedef {object} Head
 * @property {number} layer
 * @property {number} head
 * @property {string} name
 * @property {string} habit what the head does
 * @property {number} [written] the length of the vector that it adds
 * @property {Record<string, number>} [here] its measures on this sentence
 * @property {Record<string, number>} [there] its measures on the second sentence
 * @property {Record<string, number>} [held] its measures on held-out sentences
 */

const BITS = "entropy"; // name of the only measure in bits; all other measures are shares
const BY_LAYER = "layers"; // value of look.by that sorts by layer instead of a measure
const MOST_HEIGHT = 1.5; // largest height of a large map, as a multiple of its width
const LEAST_WRITTEN = 0.005; // smaller numbers are not printed in the large maps: SMALLEST_WRITTEN of canvas_map.py
const UNKNOWN = -1; // rank below every number, for a head without a measure on the sentence
const REST_MS = 300; // ms: a choice is sent to the server after this pause (debounce)

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {(event: string, value: unknown) => void} trigger
 * @property {Rest} rest sends the order after a pause
 * @property {MapOptions} options the control with the options of the maps
 * @property {string | null} beyondOrder the shown data without the order, as JSON
 * @property {{ by: string, least: number, from: any, to: any, pair: number[] }} look the choices; "" for any word
 * @property {Heads} shown
 * @property {Record<"controls" | "told" | "grid" | "two", HTMLElement>} parts
 * @property {Card[]} cards
 * @property {(() => void)[]} drawings functions that draw the large maps of compared heads at their present size
 */

/** @typedef {{ element: HTMLElement, number: HTMLElement, compare: HTMLButtonElement }} Card of a head */

/** @param {import("../shared.js").Component<Uint8Array>} component data: a packed Heads */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".heads");
  /** @type {View} */
  const view = stateOf(root);
  view.root = root;
  view.trigger = setTriggerValue;
  view.rest ??= new Rest(() => sendOrder(view), REST_MS);
  if (isDrawn(root, data)) return;
  /** @type {Heads} */
  const shown = unpacked(data);
  const beyondOrder = shown.order && textBeyondOrder(shown);
  if (beyondOrder && beyondOrder === view.beyondOrder) return takeOrder(view, shown.order); // open select boxes stay
  view.beyondOrder = beyondOrder;
  const cells = shown.queries.length * shown.keys.length;
  const cut = (numbers) => shown.heads.map((_, i) => numbers.subarray(i * cells, (i + 1) * cells));
  shown.maps = cut(floatsOf(shown.weights));
  // only a second sentence of equal length has these weights
  shown.others = shown.other.length ? cut(floatsOf(shown.other)) : null;
  shown.rolled = floatsOf(shown.rolled);
  setColours(root, shown.palette, ["ground", "ink", "faint", "outline", "share", "x", "q"]);
  const look = (view.look ??= { by: BY_LAYER, least: 0, from: "", to: "", pair: [] });
  if (shown.order && !view.rest.isOn) Object.assign(look, lookOf(shown.order));
  if (look.from >= shown.queries.length) look.from = "";
  if (look.to >= shown.keys.length) look.to = "";
  if (!shown.measures[look.by]) look.by = BY_LAYER;
  look.pair = look.pair.filter((i) => i < shown.heads.length).slice(shown.others ? -1 : -2);
  view.shown = shown;
  view.cards = shown.heads.map((_, i) => cardOf(view, i));
  const now = () => view.shown.heads.findIndex(({ layer, head }) => String([layer, head]) === String(view.shown.now));
  view.options ??= new MapOptions(element("div"), (reading) => view.trigger("maps", reading), now);
  view.options.show(shown.reads ?? undefined);
  view.parts = {
    controls: element("div", "controls"), told: element("p", "told", { ariaLive: "polite" }),
    grid: element("div", "grid"), two: element("div", "two"),
  };
  fillControls(view);
  view.parts.grid.addEventListener("focusin", ({ target }) => stopAt(view, target));
  const { controls, told, grid, two } = view.parts;
  const about = element("p", "about", shown.text.about);
  root.replaceChildren(controls, view.options.root, told, grid, two, ...filesOf(view), about, beyondOf(view));
  arrange(view);
  compareTwo(view);
}

// ---- the order in the link ------------------------------------------------------------------------------------------
// Returns all shown data except the order of the heads, as JSON.
// If this JSON stays the same, the heads' tiles and the select boxes are kept.
function textBeyondOrder(shown) {
  return JSON.stringify({ ...shown, order: null }, (_, value) => (ArrayBuffer.isView(value) ? String(value) : value));
}

const lookOf = ({ by, least, from, to }) => ({ by, least, from: from ?? "", to: to ?? "" });

function takeOrder(view, order) {
  const look = { ...view.look, ...lookOf(order) };
  if (view.rest.isOn || JSON.stringify(look) === JSON.stringify(view.look)) return;
  view.look = look;
  fillControls(view);
  arrange(view);
}

// Sorts and filters the heads at once as the visitor chose, and sends the choice to the server after a pause.
function choose(view, choice) {
  Object.assign(view.look, choice);
  arrange(view);
  if (!view.shown.order) return;
  view.rest.begin();
}

function sendOrder(view) {
  const { by, least, from, to } = view.look;
  const place = (word) => (word === "" ? null : word);
  view.trigger("order", { by, least, from: place(from), to: place(to) });
}

// Opens a head, after sending an order of the heads that was not sent yet.
// A busy server keeps only a component's last message, so a later order could replace the message about the head.
function openHead(view, head, i) {
  if (view.shown.reads?.chosen.mean.length) {
    view.options.toggle(i);
    return;
  }
  view.rest.end();
  view.trigger("head", head);
}

// ---- controls -------------------------------------------------------------------------------------------------------
function fillControls(view) {
  const { text, measures, queries, keys } = view.shown;
  const places = (words) => words.map((word, i) => [i, word]);
  const by = choiceOf(view, "by", text.sort, [[BY_LAYER, text.layers], ...Object.entries(measures)]);
  const from = choiceOf(view, "from", text.from, [["", text.any], ...places(queries)]);
  const to = choiceOf(view, "to", text.to, [["", text.any], ...places(keys)]);
  const input = element("input", "", { type: "range", min: 0, max: 1, step: 0.05, value: view.look.least });
  const output = element("output", "", spellWholePercent(view.look.least));
  input.oninput = () => {
    choose(view, { least: Number(input.value) });
    output.textContent = spellWholePercent(view.look.least);
  };
  by.hidden = !Object.keys(measures).length; // hidden, because without measures there is only the order by layer
  view.parts.controls.replaceChildren(by, from, to, element("label", "least", [text.least, input, output]));
}

function choiceOf(view, name, label, options) {
  const select = selectOf(options, { className: name, value: view.look[name] });
  const places = name !== "by";
  select.onchange = () => choose(view, { [name]: places && select.value ? Number(select.value) : select.value });
  return element("label", "", [label, select]);
}

// ---- order ----------------------------------------------------------------------------------------------------------
// Returns how heads are sorted, { label, spell, here(i), there(i), held(i) }; null for layer order.
// here, there, held: a head's number on this sentence, on the second one, and on held-out sentences.
// The numbers are the weights of a selected pair of words, else a measure of each head.
function sortedBy({ shown, look }) {
  const { from, to, by } = look;
  const { heads, maps, others } = shown;
  if (from !== "" && to !== "") {
    const cell = Number(from) * shown.keys.length + Number(to);
    const label = said(shown.text.pair, { from: shown.queries[from], to: shown.keys[to] });
    const there = (i) => others?.[i][cell];
    return { label, spell: spellOf(shown), here: (i) => maps[i][cell], there, held: () => undefined };
  }
  if (by === BY_LAYER) return null;
  const spell = by === BITS ? spellNumber : spellWholePercent;
  const number = (sentence) => (i) => heads[i][sentence]?.[by];
  return { label: shown.measures[by], spell, here: number("here"), there: number("there"), held: number("held") };
}

// Returns the number by which a head is ranked; UNKNOWN if there is none.
// The rank is the difference between both sentences if both have a number, else the number on the first sentence.
// If neither sentence has a number, the head is ranked by the number on held-out sentences.
function rankOf({ here, there, held }, i) {
  if (there(i) === undefined) return here(i) ?? held(i) ?? UNKNOWN;
  return here(i) === undefined ? UNKNOWN : Math.abs(here(i) - there(i));
}

function arrange(view) {
  const { shown, look, cards, parts } = view;
  const order = sortedBy(view);
  const number = (i) => (order ? rankOf(order, i) : UNKNOWN);
  const least = order?.spell === spellWholePercent ? look.least : 0; // 0 (no threshold) for a measure in bits
  view.parts.controls.querySelector(".least").hidden = order?.spell !== spellWholePercent;
  const all = shown.heads.map((_, i) => i);
  const kept = order ? all.filter((i) => !least || number(i) >= least).sort((i, j) => number(j) - number(i)) : all;
  const inLayer = shown.heads.filter(({ layer }) => layer === shown.heads[0]?.layer).length;
  parts.grid.classList.toggle("layers", !order);
  parts.grid.style.setProperty("--columns", inLayer);
  roving(
    parts.grid,
    () => parts.grid.replaceChildren(...kept.map((i) => cards[i].element)),
    ".open",
    () => columnsOf(parts.grid),
  );
  stopAt(view, parts.grid.querySelector('.open[tabindex="0"]'));
  for (const i of kept) cards[i].number.textContent = order ? numbersOf(shown, order, i) : "";
  const sentence = said(shown.text.order, {
    shown: kept.length,
    by: order?.label ?? shown.text.layers,
    first: kept.length ? shown.heads[kept[0]].name : "–",
  });
  const rest = all.length - kept.length;
  parts.told.textContent = rest ? `${sentence} ${said(shown.text.hidden, { hidden: rest })}` : sentence;
}

// Lets the Tab key reach the compare button of the current tile, and of no other.
function stopAt({ cards }, element) {
  const stop = element?.closest(".card");
  for (const card of cards) card.compare.tabIndex = card.element === stop ? 0 : -1;
}

function columnsOf(grid) {
  return [...grid.children].filter((card) => card.offsetTop === grid.firstChild.offsetTop).length;
}

function numbersOf({ text, others }, { here, there, held, spell }, i) {
  const named = [[text.here, here(i)], there(i) === undefined ? [text.held, held(i)] : [text.there, there(i)]];
  const known = named.filter(([, number]) => number !== undefined);
  if (others && known.length === 1) return spell(known[0][1]); // only one of the sentences has a number
  return known.map(([name, number]) => `${name} ${spell(number)}`.trim()).join(" · ") || "–";
}

// ---- cards ----------------------------------------------------------------------------------------------------------
/** @returns {Card} */
function cardOf(view, i) {
  const { shown, look } = view;
  const { layer, head, name, habit } = shown.heads[i];
  const mean = shown.reads?.chosen.mean ?? [];
  const isNow = mean.length ? mean.includes(i) : layer === shown.now[0] && head === shown.now[1];
  const matrix = shown.others
    ? shownMatrix(shown, apart(shown.maps[i], shown.others[i]), "change", null, largestChange(shown))
    : shownMatrix(shown, shown.maps[i], shown.kind, i);
  const opens = {
    title: habit || name, ariaLabel: said(shown.text.open, { name, habit }), style: `aspect-ratio: ${ratioOf(shown)}`,
  };
  const open = button(isNow ? "open chosen" : "open", opens, () => openHead(view, [layer, head], i), [
    mapImage(matrix, shown.palette),
  ]);
  const number = element("div", "number");
  const compare = button("compare", {}, () => {
    look.pair = look.pair.includes(i)
      ? look.pair.filter((each) => each !== i)
      : [...look.pair, i].slice(shown.others ? -1 : -2);
    compareTwo(view);
  });
  const card = [open, element("div", "name", name), element("div", "habit", habit), number, compare];
  return { element: element("div", isNow ? "card now" : "card", card), number, compare };
}

// Returns the function that formats the numbers of the maps.
function spellOf({ kind, reads }) {
  if (kind === "times") return (number) => said(reads.text.even_shares, { number: spellNumber(number) });
  return kind === "share" ? spellWholePercent : spellNumber;
}

const apart = (one, other) => one.map((number, i) => number - other[i]);

const largestChanges = new WeakMap(); // the shown data -> the largest difference of all heads between two sentences

// Returns the number with the full colour in the small maps of all heads, so that they can be compared.
function largestChange(shown) {
  if (!largestChanges.has(shown)) {
    const changes = apart(floatsOf(shown.weights), floatsOf(shown.other));
    largestChanges.set(shown, fullColour(changes, shown.kind === "times"));
  }
  return largestChanges.get(shown);
}

// Returns the aspect ratio of an attention map, columns divided by rows, limited to the range from 1/3 to 3.
const ratioOf = ({ queries, keys }) => Math.min(3, Math.max(1 / 3, keys.length / queries.length));

// Returns the Matrix of a map to draw. number: the index of a head, to omit its hidden cells; null for none.
// most: the number with the full colour in a difference; by default the map's largest.
function shownMatrix({ queries, keys, reach, allowed, hidden, kind: unit }, numbers, kind, number = null, most = null) {
  const cells = queries.length * keys.length;
  const own = number === null ? [] : hidden.subarray(number * cells, (number + 1) * cells);
  const isTimes = unit === "times" && kind === "change";
  let full = reach;
  if (kind === "change") full = most ?? fullColour(numbers, isTimes);
  else if (kind === "share" && unit === "times") full = 1; // the attention rollout, however, always has shares
  const map = { rows: queries.length, columns: keys.length, reach: full, kind, allowed, hidden: own };
  return { ...matrixOf(numbers, map), isTimes };
}

// ---- as a picture ---------------------------------------------------------------------------------------------------
// Returns the buttons that save the shown and the compared heads as a picture; [] if none are wanted.
function filesOf(view) {
  const { picture, palette } = view.shown;
  if (!picture) return [];
  const { grid, two } = view.parts;
  const write = () => {
    view.drawings.forEach((draw) => draw()); // a map that was just chosen would be drawn only in the next frame
    view.root.classList.add("copied"); // layout of the picture file: wider than high, without buttons
    const copy = copyParts([...grid.children, ...two.querySelectorAll("figure")]);
    view.root.classList.remove("copied");
    return svgText(copy.drawn, { ...picture, box: copy.box, palette, transparent: false });
  };
  const parts = [element("span", "", picture.label), ...saveButtons(picture, write)];
  return [element("div", "files", { role: "group", ariaLabel: picture.label }, parts)];
}

// ---- two heads, or a head on two sentences --------------------------------------------------------------------------
function compareTwo(view) {
  const { shown, look, cards, parts } = view;
  const { text, heads, maps } = shown;
  cards.forEach(({ compare }, i) => {
    const isChosen = look.pair.includes(i);
    compare.textContent = isChosen ? text.drop : text.compare;
    compare.setAttribute("aria-pressed", String(isChosen));
    compare.setAttribute("aria-label", `${compare.textContent}: ${heads[i].name}`);
  });
  const [one, other] = look.pair;
  const large = look.pair.map((i) => largeOf(shown, heads[i].name, maps[i], shown.kind, i));
  if (shown.others && look.pair.length) large.push(...secondOf(shown, one));
  if (look.pair.length === 2) large.push(largeOf(shown, text.difference, apart(maps[one], maps[other]), "change"));
  view.drawings = large.map(({ draw }) => draw);
  const asks = !shown.others && look.pair.length === 1 ? [element("p", "", text.choose_two)] : [];
  parts.two.replaceChildren(...large.map(({ figure }) => figure), ...asks);
}

// Returns two large attention maps of a head: on the second sentence, and its difference from the first.
// In the map of the difference, two different words at one position are written as "a / b".
function secondOf(shown, i) {
  const { text, heads, maps, others, queries, keys, other_words: rows, other_keys: columns } = shown;
  const both = (words, there) => words.map((word, at) => (word === there[at] ? word : `${word} / ${there[at]}`));
  const there = { ...shown, queries: rows, keys: columns };
  const named = { ...shown, queries: both(queries, rows), keys: both(keys, columns) };
  const difference = largeOf(named, text.less, apart(maps[i], others[i]), "change");
  return [largeOf(there, `${heads[i].name} (${text.there})`, others[i], shown.kind), difference];
}

// Returns a large attention map of a head with its words, as wide as its container, and the function that draws it.
// A text below the map describes the cell under the pointer or reached by arrow keys; the row of this cell is framed.
function largeOf(shown, name, numbers, kind, head = null) {
  const { queries, keys, palette } = shown;
  const matrix = { ...shownMatrix(shown, numbers, kind, head), least: LEAST_WRITTEN };
  const map = new HeadMap(element("div"));
  const frame = element("div", "frame", { tabIndex: 0, role: "application", ariaLabel: name }, [map.root]);
  const told = element("div", "cell", { ariaLive: "polite", textContent: "\u00a0" });
  const figure = element("figure", "large", [element("figcaption", "", name), frame, told]);
  const words = { rows: queries, columns: keys };
  let at = [0, 0];
  /** @type {{ start: number, size: number } | null} */
  let row = null;
  const draw = () => {
    const width = figure.clientWidth;
    if (width) map.draw({ matrix, palette, width, height: MOST_HEIGHT * width, row, words });
  };
  const tell = (...cell) => {
    at = cell;
    row = { start: at[0] / queries.length, size: 1 / queries.length };
    draw();
    const spell = kind === "share" ? spellWholePercent : spellOf(shown);
    const number = spell(matrix.row(at[0])[at[1]]);
    told.textContent = said(shown.text.cell, { query: queries[at[0]], key: keys[at[1]], number });
  };
  readCells(map.canvas, { rows: queries.length, columns: keys.length, at: () => at, tell });
  frame.onkeydown = map.canvas.onkeydown;
  new ResizeObserver(draw).observe(figure);
  return { figure, draw };
}

// ---- rollout and added vectors --------------------------------------------------------------------------------------
// Returns the elements about all heads together: attention rollout, and the length of each head's added vector.
function beyondOf({ shown }) {
  const beyond = element("div", "beyond");
  if (shown.rolled.length) beyond.append(largeOf(shown, shown.text.rollout, shown.rolled, "share").figure);
  if (shown.text.written_title) beyond.append(writtenOf(shown));
  if (shown.text.why) beyond.append(element("p", "why", shown.text.why));
  return beyond;
}

function writtenOf({ heads, text }) {
  const most = Math.max(...heads.map((each) => each.written)) || 1;
  const rows = heads.map(({ name, written: length }) => {
    const beam = element("span", "beam", { style: `width: ${(100 * length) / most}%` });
    return element("div", "row", [
      element("span", "", name), element("span", "room", [beam]), element("span", "", spellNumber(length)),
    ]);
  });
  return element("figure", "written", { title: text.written }, [
    element("figcaption", "", text.written_title), ...rows,
  ]);
}
