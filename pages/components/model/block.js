// Shows the residual stream of one word in a language model: from top to bottom, what each part adds to the vector.
// Beside each part's vector are its direct logit attribution to a word, and the predicted words.
import { button, classes, element, isDrawn, keepFocus, setColours, stateOf } from "../dom.js";
import { spellNumber, spellWholePercent } from "../flow/words.js";
import { floatsOf, unpacked } from "../pixels.js";
import { playerOf } from "../player.js";
import { sharesOf, temperatureSlider } from "./controls.js";

/** @typedef {import("../flow/model.js").Cell} Cell */

/**
 * @typedef {object} Block
 * @property {Row[]} rows from the top of the stream
 * @property {Temperature | null} temperature
 * @property {{ first: number, count: number }} logits the range of the logits in `values`
 * @property {Word[]} words the predicted words
 * @property {{ question: string, word: string, share: number }[]} answers
 * @property {any} [walk] a lesson's player: { stops, play, pause, label }, with a stop { row, words, told } per part
 * @property {Float32Array} numbers the bytes of all vectors
 * @property {Float32Array} values the numbers of all vectors
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/**
 * @typedef {object} Row a part of the sum, or the title of a group of parts
 * @property {"part" | "sum" | "norm" | "group" | "inner"} kind
 * @property {string} name
 * @property {string} [part] the name of the part in the model
 * @property {string} [within] the part of which the row is a step
 * @property {number} [first] the index in `values` at which its vector begins
 * @property {number} [count] the length of its vector
 * @property {number} [push] what it adds to the logit, or the length of its vector
 * @property {any} [push_cell] the cell of that number in the run
 * @property {any} [cell] the cell of its vector in the run: { part, step, index } without the last index
 * @property {number[] | null} [opens] the layer and head that a click on its name opens
 * @property {string} [sign]
 */

/** @typedef {{ word: string, share: number, number?: number, chosen?: boolean, share_cell?: any }} Word */
/** @typedef {{ value: number, ends: number[], label: string }} Temperature */

const NUMBER_ROOM = 54; // px: space for the text to the right of the longest bar

/** @param {import("../shared.js").Component<Uint8Array>} component data: a packed Block */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".block");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  if (isDrawn(root, data)) return;
  /** @type {Block} */
  const shown = unpacked(data);
  shown.values = floatsOf(shown.numbers);
  setColours(root, shown.palette, ["ground", "ink", "faint", "outline", "plus", "minus", "share", "x"]);
  const refocus = keepFocus(root);
  const all = element("div", "all", [partsOf(view, shown), outOf(view, shown)]);
  view.told = element("div", "told", { ariaLive: "polite" });
  root.replaceChildren(all, view.told);
  clearInterval(view.playing); // stops the player, because the new data may have other parts
  if (shown.walk) root.prepend(walkOf(view, shown));
  refocus();
}

// ---- the parts ------------------------------------------------------------------------------------------------------
// Returns the element of all parts (heads, feed-forward layers) and their sum, one row each.
// The function also sets view.rows, the elements of each row, and view.folders, the buttons that show a part's steps.
function partsOf(view, shown) {
  const pushes = shown.rows.map((row) => row.push ?? 0);
  const sides = { low: Math.min(0, ...pushes), high: Math.max(0, ...pushes) };
  // the sum is left out, because its numbers may be larger
  const largest = largestOf(shown, ({ kind }) => kind === "part");
  view.folders = new Map();
  view.unfolded ??= new Set();
  view.rows = shown.rows.map((row, i) => {
    if (row.kind === "group") return [element("div", "group", row.name)];
    const scale = row.kind === "part" || row.kind === "sum" ? largest : largestOf(shown, (each) => each === row);
    const push = "push" in row ? pushOf(view, shown, row, sides) : element("span");
    const parts = [nameOf(view, shown, row, i), stripOf(view, shown, row, i, scale), push];
    if (row.kind === "sum") parts.forEach((part) => part.classList.add("total"));
    if (row.within) parts.forEach((part) => (part.hidden = !view.unfolded.has(row.within)));
    return parts;
  });
  const heads = [shown.text.vector, shown.text.push].map((title) => element("h5", "", title));
  return element("div", "parts", [element("span"), ...heads, ...view.rows.flat()]);
}

function largestOf({ rows, values }, isMeant) {
  let most = 0;
  for (const { first, count } of rows.filter(isMeant))
    for (let i = 0; i < count; i++) most = Math.max(most, Math.abs(values[first + i]));
  return most || 1;
}

// Shows the steps within a part of the model, or hides them if they are shown.
function unfold({ folders, unfolded, rows }, shown, part) {
  if (!unfolded.delete(part)) unfolded.add(part);
  folders.get(part).ariaExpanded = unfolded.has(part);
  shown.rows.forEach(({ within }, i) => {
    if (within === part) for (const each of rows[i]) each.hidden = !unfolded.has(part);
  });
}

// Returns the element with a part's name; a click opens the head, or shows the steps of a feed-forward layer.
function nameOf(view, shown, row, i) {
  const isFolder = shown.rows.some(({ within }) => within && within === row.part);
  const [isFirst, isLast] = [i === 0, i === shown.rows.length - 1];
  const look = classes(
    "name", row.kind, Boolean(row.opens) && "head", isFolder && "folder", isFirst && "first", isLast && "last",
  );
  const act = row.opens ? () => view.trigger("head", row.opens) : () => unfold(view, shown, row.part);
  const said = { textContent: row.name, place: `name ${i}` };
  const name = row.opens || isFolder ? button(look, said, act) : element("span", look, said);
  if (isFolder) {
    name.ariaExpanded = String(view.unfolded.has(row.part));
    view.folders.set(row.part, name);
  }
  name.dataset.sign = row.kind === "part" ? (i ? "+" : "") : row.kind === "norm" ? "÷" : (row.sign ?? "");
  return name;
}

// Returns the element of a vector: a stripe per component, and a text about the component under the pointer.
// A click on a stripe opens the component's cell; arrow keys move along the vector.
function stripOf(view, shown, row, i, largest) {
  const { first, count } = row;
  const strip = element("div", `strip ${row.kind}`, {
    tabIndex: 0, role: "slider", title: shown.text.keys, place: `strip ${i}`,
    ariaLabel: row.name, ariaValueMin: 1, ariaValueMax: count, ariaValueNow: 1,
  });
  const stripes = Array.from({ length: count }, (_, m) => {
    const number = shown.values[first + m];
    const strength = Math.min(1, 0.05 + (0.95 * Math.abs(number)) / largest);
    const opacity = Math.round(255 * strength).toString(16).padStart(2, "0");
    const colour = number < 0 ? shown.palette.minus : shown.palette.plus;
    return `${colour}${opacity} ${(100 * m) / count}% ${(100 * (m + 1)) / count}%`;
  });
  strip.style.backgroundImage = `linear-gradient(to right, ${stripes.join(", ")})`;
  let at = 0;
  const tell = (m) => {
    at = Math.max(0, Math.min(count - 1, m));
    const said = `${row.name} [${at + 1}] = ${spellNumber(shown.values[first + at])}`;
    view.told.textContent = said;
    Object.assign(strip, { ariaValueNow: at + 1, ariaValueText: said });
  };
  const open = () =>
    row.cell
      ? view.trigger("opened", { ...row.cell, index: [...row.cell.index, at] })
      : unfold(view, shown, row.part); // a sum has no cell, but steps to show
  const under = (event) =>
    Math.floor(((event.clientX - strip.getBoundingClientRect().left) / strip.clientWidth) * count);
  strip.onpointermove = (event) => tell(under(event));
  strip.onclick = (event) => {
    tell(under(event));
    open();
  };
  strip.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) tell(at + step);
    else if (event.key === "Enter") open();
    else return;
    event.preventDefault();
  };
  return strip;
}

// Returns the element that shows what a part of the model adds to the logit: a bar that starts at zero, and a number.
// A click on this number opens its cell.
function pushOf(view, shown, { push, push_cell: cell, kind, part }, { low, high }) {
  const width = high - low || 1;
  // px right of the bar are reserved for the number
  const along = (share) => `calc((100% - ${NUMBER_ROOM}px) * ${share / width})`;
  const left = (number) => `left: ${along(number - low)}`;
  const colour = `var(--${push < 0 ? "minus" : "plus"})`;
  const open = () => (cell ? view.trigger("opened", cell) : unfold(view, shown, part));
  return button("push", { title: spellNumber(push) }, open, [
    element("span", "beam", {
      style: `${left(Math.min(0, push))}; width: ${along(Math.abs(push))}; background: ${colour}`,
    }),
    element("span", "zero", { style: left(0) }),
    element("span", "much", {
      textContent: spellNumber(push), style: `${left(Math.max(0, push))}${kind === "sum" ? "; font-weight: 700" : ""}`,
    }),
  ]);
}

// ---- predicted words ------------------------------------------------------------------------------------------------
function outOf(view, shown) {
  const rows = shown.words.map((word) => ({
    number: word.number, element: word.share_cell ? wordOf(view, word) : sharedWordOf(word),
  }));
  const words = element("div", "words", rows.map((row) => row.element));
  const out = element("div", "out", [element("h5", "", shown.text.words), words]);
  if (shown.temperature) out.append(heatOf(view, shown, rows));
  if (shown.answers.length) {
    const title = element("h5", "", shown.text.answers);
    out.append(element("div", "answers", [title, ...shown.answers.map(answerOf)]));
  }
  return out;
}

function wordOf(view, { word, number, share, chosen, share_cell: cell }) {
  const said = { textContent: word, title: word, ariaPressed: String(chosen), place: `word ${number}` };
  const row = element("div", chosen ? "word chosen" : "word", [
    button("said", said, () => view.trigger("target", number)), element("span", "beam"),
    button("cell", {}, () => view.trigger("opened", cell)),
  ]);
  showShare(row, share);
  return row;
}

function showShare(row, share) {
  row.querySelector(".beam").style.width = 100 * share + "%";
  row.querySelector(".cell").textContent = spellWholePercent(share);
}

// Returns the slider of the temperature: bars follow the drag, and the server computes after the release.
function heatOf(view, { temperature, logits, values }, rows) {
  const own = values.subarray(logits.first, logits.first + logits.count);
  const follow = (number) => {
    const shares = sharesOf(own, { temperature: number });
    for (const row of rows) showShare(row.element, shares[row.number]);
  };
  return temperatureSlider(temperature, follow, (number) => view.trigger("temperature", number));
}

function answerOf({ question, word, share }) {
  return element("div", "answer", [
    element("span", "asked", question), element("span", "", `${word} · ${spellWholePercent(share)}`),
  ]);
}

// ---- part by part ---------------------------------------------------------------------------------------------------
const STOP_TIME = 1300; // ms for which the player shows a part

// Returns a player that adds one part of the model after another; parts not added yet are pale.
// The words are those that the logit lens predicts from the sum so far.
function walkOf(view, shown) {
  const { stops, ...text } = shown.walk;
  const last = stops.length - 1;
  const reached = element("div", "reached", { ariaLive: "polite" });
  const words = view.root.querySelector(".words");
  const own = [...words.children];
  const draw = (at) => {
    view.rows.forEach((parts, i) => parts.forEach((part) => part.classList.toggle("later", i > stops[at].row)));
    words.replaceChildren(...(at === last ? own : stops[at].words.map(sharedWordOf)));
    return (reached.textContent = stops[at].told);
  };
  const { play, range, show } = playerOf(view, { text, last, time: STOP_TIME, draw });
  show(Math.min(view.at ?? last, last));
  return element("div", "walk", [play, range, reached]);
}

function sharedWordOf({ word, share }) {
  const row = element("div", "word", [
    element("span", "said", { textContent: word, title: word }), element("span", "beam"), element("span", "cell"),
  ]);
  showShare(row, share);
  return row;
}
