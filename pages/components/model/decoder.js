// Shows a decoder generating one word after the other: self-attention, cross-attention, and the next word.
// The generated words are at the left, the words of the other sentence at the right.
// Lines between words are as thick as the attention weights.
import { classes, element, keepFocus, onResize, setColours, stateOf, svgShape } from "../dom.js";
import { spellWholePercent } from "../flow/words.js";
import { floatsOf, unpacked } from "../pixels.js";
import { playerOf } from "../player.js";

/**
 * @typedef {object} Decoder
 * @property {string} run the identity of the run; a new run starts at `row`
 * @property {string[]} target the generated words
 * @property {string[]} source the words of the other sentence
 * @property {number} row the index of the selected generated word
 * @property {number} layer
 * @property {number} head
 * @property {Float32Array} own weights of self-attention, row by row
 * @property {Float32Array} cross weights of cross-attention, row by row
 * @property {{ word: string, share: number }[][]} next the likeliest next words after each row
 * @property {string[]} told the text of each stage
 * @property {Record<string, string>} palette
 * @property {any} text
 */

const ROW = 24; // height of a row in viewBox units; all positions here are in these units
// For a narrow screen: the x positions of the arcs and of the words, and the width of the picture.
const NARROW = { arcs: 74, bow: 5, target: 170, source: 320, bend: 70, wide: 430 };
const WIDE = { arcs: 80, bow: 8, target: 195, source: 540, bend: 120, wide: 620 };
const ROOM = 560; // px: a narrower element gets the NARROW picture
const STAGES = 3; // stages of a word: self-attention, cross-attention, feed-forward layers and output
const STAGE_TIME = 1300; // ms for which the player shows a stage

/** @param {import("../shared.js").Component<Uint8Array>} component data: a packed Decoder */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".decoder");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  /** @type {Decoder} */
  const shown = unpacked(data);
  shown.own = floatsOf(shown.own);
  shown.cross = floatsOf(shown.cross);
  setColours(root, shown.palette, ["ground", "ink", "faint", "q", "k", "share", "x"]);
  const refocus = keepFocus(root);
  const [picture, words, walk] = ["picture", "next", "walk"].map((name) => element("div", name));
  root.replaceChildren(walk, element("div", "all", [picture, words]));
  const last = shown.target.length * STAGES - 1;
  const reached = element("div", "reached", { ariaLive: "polite" });
  const isNew = view.row !== shown.row || view.run !== shown.run;
  const draw = (at) => {
    Object.assign(view, { row: Math.floor(at / STAGES), run: shown.run });
    picture.replaceChildren(drawn(view, shown, go));
    words.replaceChildren(nextWords(shown, view.row, at % STAGES === STAGES - 1));
    return (reached.textContent = shown.told[at]);
  };
  const settled = () => view.trigger("row", view.row);
  view.place = placeOf(root);
  const { play, range, show, go } = playerOf(view, { text: shown.text, last, time: STAGE_TIME, draw, settled });
  walk.append(play, range, reached);
  show(isNew ? shown.row * STAGES + STAGES - 1 : view.at);
  refocus();
  onResize(root, () => {
    const place = placeOf(root);
    if (place === view.place) return;
    view.place = place;
    show(view.at);
  });
}

const placeOf = ({ clientWidth }) => (clientWidth < ROOM ? NARROW : WIDE);

const middle = (row) => 36 + ROW * row;

function drawn(view, shown, go) {
  const { source, target, text } = shown;
  const { place } = view;
  const stage = view.at % STAGES;
  const rows = Math.max(source.length, target.length + 1);
  const end = { x: place.target, "text-anchor": "end" };
  const start = { x: place.source };
  const shapes = [
    svgShape("text", { ...end, y: 18, class: "title" }, text.target),
    svgShape("text", { ...start, y: 18, class: "title" }, text.source),
    ...target.slice(0, view.row + 1).map((_, j) => arc(view, shown, j)),
    ...(stage > 0 ? source.map((_, j) => thread(view, shown, j)) : []),
    ...target.map((word, row) => written(view, word, row, go)),
    ...source.map((word, j) => svgShape("text", { ...start, y: middle(j) + 6, class: "word" }, word)),
  ];
  if (stage === STAGES - 1) {
    const { word, share } = shown.next[view.row][0];
    const at = { ...end, y: middle(view.row + 1) + 6, class: "word new" };
    shapes.push(svgShape("text", at, `${word} ${spellWholePercent(share)}`));
  }
  const frame = { viewBox: `0 0 ${place.wide} ${middle(rows)}`, role: "group", "aria-label": text.alt };
  return svgShape("svg", frame, shapes);
}

// Returns the element of a generated word; words that are generated later are pale.
function written(view, word, row, go) {
  const stage = view.at % STAGES;
  const isHidden = stage === STAGES - 1 && row === view.row + 1; // this row shows the predicted word instead
  const made = svgShape("text", {
    class: classes("word", row === view.row && "now", row > view.row && "later", isHidden && "hidden"),
    x: view.place.target, y: middle(row) + 6, "text-anchor": "end", "data-place": `word ${row}`,
  }, word);
  return pressed(made, () => go(row * STAGES + STAGES - 1));
}

// Makes an element work as a button: `act` is called on a click, Enter or Space.
function pressed(made, act) {
  Object.assign(made, { role: "button", tabIndex: 0 });
  made.onclick = act;
  made.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  };
  return made;
}

// Returns the arc of self-attention from the selected word to word j, an earlier word or the selected one.
function arc(view, shown, j) {
  const [from, to] = [middle(view.row), middle(j)];
  const { arcs, bow } = view.place;
  const far = arcs - 14 - bow * (view.row - j);
  const d = `M ${arcs} ${from} C ${far} ${from}, ${far} ${to}, ${arcs} ${to}`;
  const weight = shown.own[view.row * shown.target.length + j];
  return weightPath(view, shown, { d, weight, look: "own", kind: "attention", word: shown.target[j], j });
}

// Returns the line of the cross-attention weight from the selected word to word j of the other sentence.
function thread(view, shown, j) {
  const { target, source, bend } = view.place;
  const [from, to] = [middle(view.row), middle(j)];
  const d = `M ${target + 10} ${from} C ${target + bend} ${from}, ${source - bend} ${to}, ${source - 10} ${to}`;
  const weight = shown.cross[view.row * shown.source.length + j];
  return weightPath(view, shown, { d, weight, look: "cross", kind: "cross", word: shown.source[j], j });
}

// Returns the line of an attention weight, as thick as the weight and with a label; a click opens its cell.
function weightPath(view, shown, { d, weight, look, kind, word, j }) {
  const said = `${shown.target[view.row]} → ${word}: ${spellWholePercent(weight)}`;
  const attributes = {
    d, class: look, "stroke-width": 1 + 9 * weight, opacity: 0.12 + 0.88 * weight, "aria-label": said,
    "data-place": `${kind} ${j}`,
  };
  const path = svgShape("path", attributes, [svgShape("title", {}, said)]);
  const number = { part: `${shown.layer}.${kind}`, step: "weights", index: [0, shown.head, view.row, j] };
  return pressed(path, () => view.trigger("opened", number));
}

// Returns the list of the likeliest next words, which is pale until the last stage.
function nextWords(shown, row, isThere) {
  const rows = shown.next[row].map(({ word, share }) =>
    element("div", "line", [
      element("span", "said", word), element("span", "beam", { style: `width: ${100 * share}%` }),
      element("span", "much", spellWholePercent(share)),
    ]),
  );
  return element("div", isThere ? "" : "later", [element("h5", "", shown.text.next), ...rows]);
}
