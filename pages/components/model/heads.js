// The weights of many heads as small maps, which are sorted, filtered and searched in the browser; two heads can be
// compared, or one head on two sentences. The component works for any model: it only needs names, words and numbers.
import { element, isDrawn, setColours } from "../dom.js";
import { Rest } from "../drag.js";
import { said, spellNumber, spellWholePercent } from "../flow/words.js";
import { unpacked } from "../pixels.js";
import { roving } from "../roving.js";
import { mapImage } from "./maps.js";

/**
 * @typedef {object} Heads
 * @property {Head[]} heads
 * @property {string[]} queries the words of the rows
 * @property {string[]} keys the words of the columns
 * @property {number[]} now the layer and the head that are open
 * @property {Record<string, string>} measures measure by which heads can be sorted -> its name
 * @property {Order | null} order the order in the link of the page; null if the link has none
 * @property {boolean} as_numbers whether the maps contain numbers that are not shares
 * @property {number} reach the number with the full colour
 * @property {Record<string, string[]>} fills
 * @property {Uint8Array} allowed whether each cell of a map is allowed; empty if all are
 * @property {string[]} other_words the words of a second sentence
 * @property {Float32Array} weights the weights of all heads
 * @property {Float32Array} other the weights of all heads on the second sentence
 * @property {Float32Array[]} maps the weights of each head
 * @property {Float32Array[] | null} others the weights of each head on the second sentence
 * @property {Float32Array} rolled the attention rollout of all layers
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
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

const BITS = "entropy"; // the only measure in bits; all others are shares
const BY_LAYER = "layers"; // value of look.by for the order of the layers, without a measure
const MOST_LABELS = 24; // the largest number of words beside a large map
const UNKNOWN = -1; // the rank of a head whose measure is not defined on the sentence, below every number
const REST_MS = 300; // the pause (debounce) after which a choice is sent, to be stored in the link

/** @param {import("../shared.js").Component<Uint8Array>} component data: a packed Heads */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".heads");
  root.trigger = setTriggerValue;
  root.rest ??= new Rest(() => sendOrder(root), REST_MS);
  if (isDrawn(root, data)) return;
  /** @type {Heads} */
  const shown = unpacked(data);
  const beyondOrder = shown.order && textBeyondOrder(shown);
  if (beyondOrder && beyondOrder === root.beyondOrder) return takeOrder(root, shown.order); // keeps open select boxes
  root.beyondOrder = beyondOrder;
  const cells = shown.queries.length * shown.keys.length;
  const floats = (bytes) => new Float32Array(bytes.slice().buffer);
  const cut = (numbers) => shown.heads.map((_, i) => numbers.subarray(i * cells, (i + 1) * cells));
  shown.maps = cut(floats(shown.weights));
  shown.others = shown.other.length ? cut(floats(shown.other)) : null; // only for a second sentence of equal length
  shown.rolled = floats(shown.rolled);
  setColours(root, shown.palette, ["ground", "ink", "faint", "outline", "share", "x"]);
  root.look ??= { by: BY_LAYER, least: 0, from: "", to: "", pair: [] };
  if (shown.order && !root.rest.isOn) Object.assign(root.look, lookOf(shown.order));
  if (root.look.from >= shown.queries.length) root.look.from = "";
  if (root.look.to >= shown.keys.length) root.look.to = "";
  if (!shown.measures[root.look.by]) root.look.by = BY_LAYER;
  root.look.pair = root.look.pair.filter((i) => i < shown.heads.length).slice(shown.others ? -1 : -2);
  root.shown = shown;
  const cards = shown.heads.map((_, i) => cardOf(root, i));
  const parts = {
    controls: element("div", "controls"), told: element("p", "told", { ariaLive: "polite" }),
    grid: element("div", "grid"), two: element("div", "two"),
  };
  Object.assign(root, { parts, cards });
  fillControls(root);
  parts.grid.addEventListener("focusin", ({ target }) => stopAt(root, target));
  root.replaceChildren(
    element("p", "about", shown.text.about), ...Object.values(parts), beyondOf(root),
  );
  arrange(root);
  compareTwo(root);
}

// ---- the order in the link ------------------------------------------------------------------------------------------
// The shown data without the order, as JSON: if it is unchanged, the cards and an open select box are kept.
function textBeyondOrder(shown) {
  return JSON.stringify({ ...shown, order: null }, (_, value) => (ArrayBuffer.isView(value) ? String(value) : value));
}

const lookOf = ({ by, least, from, to }) => ({ by, least, from: from ?? "", to: to ?? "" });

function takeOrder(root, order) {
  const look = { ...root.look, ...lookOf(order) };
  if (root.rest.isOn || JSON.stringify(look) === JSON.stringify(root.look)) return;
  root.look = look;
  fillControls(root);
  arrange(root);
}

// Arranges the heads at once; the choice is sent to the server after a pause.
function choose(root, choice) {
  Object.assign(root.look, choice);
  arrange(root);
  if (!root.shown.order) return;
  root.rest.begin();
}

function sendOrder(root) {
  const { by, least, from, to } = root.look;
  const place = (word) => (word === "" ? null : word);
  root.trigger("order", { by, least, from: place(from), to: place(to) });
}

// Opens a head. A pending order is sent first: sent later it could replace the message of the opened head, because a
// busy server keeps only the last message of a component.
function openHead(root, head) {
  root.rest.end();
  root.trigger("head", head);
}

// ---- controls -------------------------------------------------------------------------------------------------------
function fillControls(root) {
  const { text, measures, queries, keys } = root.shown;
  const places = (words) => words.map((word, i) => [i, word]);
  const by = choiceOf(root, "by", text.sort, [[BY_LAYER, text.layers], ...Object.entries(measures)]);
  const from = choiceOf(root, "from", text.from, [["", text.any], ...places(queries)]);
  const to = choiceOf(root, "to", text.to, [["", text.any], ...places(keys)]);
  const least = element("label", "least", text.least);
  const input = element("input", "", { type: "range", min: 0, max: 1, step: 0.05, value: root.look.least });
  const output = element("output", "", spellWholePercent(root.look.least));
  input.oninput = () => {
    choose(root, { least: Number(input.value) });
    output.textContent = spellWholePercent(root.look.least);
  };
  least.append(input, output);
  by.hidden = !Object.keys(measures).length; // hidden if the layer is the only choice
  root.parts.controls.replaceChildren(by, from, to, least);
}

function choiceOf(root, name, label, options) {
  const choice = element("label", "", label);
  const select = element("select", name);
  for (const [value, said] of options) select.append(element("option", "", { value, textContent: said }));
  select.value = root.look[name];
  const places = name !== "by";
  select.onchange = () => choose(root, { [name]: places && select.value ? Number(select.value) : select.value });
  choice.append(select);
  return choice;
}

// ---- order ----------------------------------------------------------------------------------------------------------
// The number by which heads are sorted, as { label, spell, here(i), there(i), held(i) }: the weight of a pair of words
// if both words are chosen, else a measure on this, the second, and held-out sentences. null for the order by layer.
function sortedBy({ shown, look }) {
  const { from, to, by } = look;
  const { heads, maps, others } = shown;
  if (from !== "" && to !== "") {
    const cell = Number(from) * shown.keys.length + Number(to);
    const label = said(shown.text.pair, { from: shown.queries[from], to: shown.keys[to] });
    const there = (i) => others?.[i][cell];
    const spell = shown.as_numbers ? spellNumber : spellWholePercent;
    return { label, spell, here: (i) => maps[i][cell], there, held: () => undefined };
  }
  if (by === BY_LAYER) return null;
  const spell = by === BITS ? spellNumber : spellWholePercent;
  const number = (sentence) => (i) => heads[i][sentence]?.[by];
  return { label: shown.measures[by], spell, here: number("here"), there: number("there"), held: number("held") };
}

// The number by which a head is ranked: the difference between two sentences, or the number on this sentence, or else
// on held-out sentences; UNKNOWN if there is none.
function rankOf({ here, there, held }, i) {
  if (there(i) === undefined) return here(i) ?? held(i) ?? UNKNOWN;
  return here(i) === undefined ? UNKNOWN : Math.abs(here(i) - there(i));
}

function arrange(root) {
  const { shown, look, cards, parts } = root;
  const order = sortedBy(root);
  const number = (i) => rankOf(order, i);
  const least = order?.spell === spellWholePercent ? look.least : 0; // bits have no threshold
  root.parts.controls.querySelector(".least").hidden = order?.spell !== spellWholePercent;
  const all = shown.heads.map((_, i) => i);
  const kept = order ? all.filter((i) => !least || number(i) >= least).sort((i, j) => number(j) - number(i)) : all;
  const inLayer = shown.heads.filter(({ layer }) => layer === shown.heads[0]?.layer).length;
  parts.grid.classList.toggle("layers", !order);
  parts.grid.style.setProperty("--columns", inLayer);
  roving(
    parts.grid,
    () => parts.grid.replaceChildren(...kept.map((i) => cards[i])),
    ".open",
    () => columnsOf(parts.grid),
  );
  stopAt(root, parts.grid.querySelector('.open[tabindex="0"]'));
  for (const i of kept) cards[i].number.textContent = order ? numbersOf(shown, order, i) : "";
  const sentence = said(shown.text.order, {
    shown: kept.length,
    by: order?.label ?? shown.text.layers,
    first: kept.length ? shown.heads[kept[0]].name : "–",
  });
  const rest = all.length - kept.length;
  parts.told.textContent = rest ? `${sentence} ${said(shown.text.hidden, { hidden: rest })}` : sentence;
}

// Makes only the compare button of the card with the Tab stop reachable by Tab, too.
function stopAt({ cards }, element) {
  const stop = element?.closest(".card");
  for (const card of cards) card.compare.tabIndex = card === stop ? 0 : -1;
}

function columnsOf(grid) {
  return [...grid.children].filter((card) => card.offsetTop === grid.firstChild.offsetTop).length;
}

function numbersOf({ text, others }, { here, there, held, spell }, i) {
  const named = [[text.here, here(i)], there(i) === undefined ? [text.held, held(i)] : [text.there, there(i)]];
  const known = named.filter(([, number]) => number !== undefined);
  if (others && known.length === 1) return spell(known[0][1]); // one number for both sentences
  return known.map(([name, number]) => `${name} ${spell(number)}`.trim()).join(" · ") || "–";
}

// ---- cards ----------------------------------------------------------------------------------------------------------
function cardOf(root, i) {
  const { shown, look } = root;
  const { layer, head, name, habit } = shown.heads[i];
  const isNow = layer === shown.now[0] && head === shown.now[1];
  const card = element("div", isNow ? "card now" : "card");
  const open = element("button", isNow ? "open chosen" : "open", {
    type: "button", title: habit || name,
    onclick: () => openHead(root, [layer, head]),
  });
  open.setAttribute("aria-label", said(shown.text.open, { name, habit }));
  open.style.aspectRatio = ratioOf(shown);
  open.append(
    shown.others
      ? imageOf(shown, apart(shown.maps[i], shown.others[i]), "signed")
      : imageOf(shown, shown.maps[i], scaleOf(shown)),
  );
  card.number = element("div", "number");
  const compare = element("button", "compare", { type: "button" });
  compare.onclick = () => {
    look.pair = look.pair.includes(i)
      ? look.pair.filter((each) => each !== i)
      : [...look.pair, i].slice(shown.others ? -1 : -2);
    compareTwo(root);
  };
  card.compare = compare;
  card.append(
    open, element("div", "name", name), element("div", "habit", habit), card.number,
    compare,
  );
  return card;
}

// The colour scale: with both signs for numbers that are not shares.
const scaleOf = (shown) => (shown.as_numbers ? "signed" : "share");

const apart = (one, other) => one.map((number, i) => number - other[i]);

// The aspect ratio of a map: columns by rows, limited to between 1/3 and 3.
const ratioOf = ({ queries, keys }) => Math.min(3, Math.max(1 / 3, keys.length / queries.length));

const imageOf = ({ queries, keys, reach, fills, allowed }, numbers, scale) =>
  mapImage(numbers, { rows: queries.length, columns: keys.length, reach, fills, scale, allowed });

// ---- two heads, or a head on two sentences --------------------------------------------------------------------------
function compareTwo(root) {
  const { shown, look, cards, parts } = root;
  const { text, heads, maps } = shown;
  cards.forEach(({ compare }, i) => {
    const isChosen = look.pair.includes(i);
    compare.textContent = isChosen ? text.drop : text.compare;
    compare.setAttribute("aria-pressed", String(isChosen));
    compare.setAttribute("aria-label", `${compare.textContent}: ${heads[i].name}`);
  });
  const [one, other] = look.pair;
  const large = look.pair.map((i) => largeOf(shown, heads[i].name, maps[i], scaleOf(shown)));
  if (shown.others && look.pair.length) large.push(...secondOf(shown, one));
  else if (look.pair.length === 1) large.push(element("p", "", text.choose_two));
  if (look.pair.length === 2) large.push(largeOf(shown, text.difference, apart(maps[one], maps[other]), "signed"));
  parts.two.replaceChildren(...large);
}

// The map of a head on the second sentence, and the map of the differences; words that differ are shown as "a / b".
function secondOf(shown, i) {
  const { text, heads, maps, others, queries, other_words: words } = shown;
  const both = queries.map((word, at) => (word === words[at] ? word : `${word} / ${words[at]}`));
  const there = { ...shown, queries: words, keys: words };
  const difference = largeOf({ ...shown, queries: both, keys: both }, text.less, apart(maps[i], others[i]), "signed");
  return [largeOf(there, `${heads[i].name} (${text.there})`, others[i], "share"), difference];
}

// A large map with its words; a text shows the cell under the pointer, or the one reached by the arrow keys.
function largeOf(shown, name, numbers, scale) {
  const { queries, keys } = shown;
  const figure = element("figure", "large");
  const told = element("div", "cell", { ariaLive: "polite", textContent: "\u00a0" });
  const frame = element("div", "frame", { tabIndex: 0, role: "application" });
  frame.setAttribute("aria-label", name);
  frame.style.aspectRatio = ratioOf(shown);
  frame.append(imageOf(shown, numbers, scale));
  const inside = (place, words) => Math.min(words.length - 1, Math.max(0, place));
  let at = [0, 0];
  const tell = (row, column) => {
    at = [inside(row, queries), inside(column, keys)];
    const spell = shown.as_numbers ? spellNumber : spellWholePercent;
    const number = spell(numbers[at[0] * keys.length + at[1]]);
    [...down.children].forEach((word, i) => word.classList.toggle("at", i === at[0]));
    [...across.children].forEach((word, i) => word.classList.toggle("at", i === at[1]));
    told.textContent = said(shown.text.cell, { query: queries[at[0]], key: keys[at[1]], number });
  };
  frame.onpointermove = ({ clientX, clientY }) => {
    const { left, top, width, height } = frame.getBoundingClientRect();
    tell(Math.floor(((clientY - top) / height) * queries.length), Math.floor(((clientX - left) / width) * keys.length));
  };
  frame.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    tell(at[0] + step[0], at[1] + step[1]);
    event.preventDefault();
  };
  const plot = element("div", "plot");
  const [across, down] = [axisOf(keys, "across"), axisOf(queries, "down")];
  plot.append(across, down, frame);
  figure.append(element("figcaption", "", name), plot, told);
  return figure;
}

// The words along a side of a map; none if there are more than MOST_LABELS.
function axisOf(words, name) {
  const axis = element("div", `axis ${name}`);
  axis.setAttribute("aria-hidden", "true");
  axis.style.setProperty("--count", words.length);
  if (words.length <= MOST_LABELS)
    axis.append(...words.map((word) => element("span", "", { textContent: word, title: word })));
  return axis;
}

// ---- rollout and added vectors --------------------------------------------------------------------------------------
// Data on all heads together: the attention rollout, and the length of the vector that each head adds.
function beyondOf({ shown }) {
  const beyond = element("div", "beyond");
  if (shown.rolled.length) beyond.append(largeOf(shown, shown.text.rollout, shown.rolled, "share"));
  if (shown.text.written_title) beyond.append(writtenOf(shown));
  if (shown.text.why) beyond.append(element("p", "why", shown.text.why));
  return beyond;
}

function writtenOf({ heads, text }) {
  const written = element("figure", "written");
  const most = Math.max(...heads.map((each) => each.written)) || 1;
  const rows = heads.map(({ name, written: length }) => {
    const row = element("div", "row");
    const beam = element("span", "beam");
    beam.style.width = `${(100 * length) / most}%`;
    const room = element("span", "room");
    room.append(beam);
    row.append(
      element("span", "", name), room, element("span", "", spellNumber(length)),
    );
    return row;
  });
  written.title = text.written;
  written.append(element("figcaption", "", text.written_title), ...rows);
  return written;
}
