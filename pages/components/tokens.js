// Draws a text tokenized in three ways, a row for each: words, subword tokens, characters.
// A slider sets the number of merges of byte pair encoding.
// Hovering or focusing a token highlights the same letters in all rows.
import { element, keepFocus, setColours, stateOf } from "./dom.js";
import { playerOf } from "./player.js";
import { filled } from "./printed.js";
import { roving } from "./roving.js";

/**
 * @typedef {object} Tokens
 * @property {string} original the text
 * @property {{ name: string, note: string, tokens: Token[] }[]} rows words, pieces and characters
 * @property {{ merges: number, tokens: Token[] }[]} stages the pieces after a number of merges
 * @property {[string, string][]} learned the learned merges, each a pair of pieces
 * @property {number} merges the number of applied merges
 * @property {number} most the largest number of merges
 * @property {number} unmerged the size of the vocabulary without merges
 * @property {Record<string, string>} palette
 * @property {any} label
 */

/** @typedef {{ shown: string, said: string, first: number, last: number, known: boolean }} Token of some letters */

const TINTS = 6; // number of colours through which consecutive tokens cycle
const STEP_TIME = 260; // ms between two stages of the animation
const spans = new WeakMap(); // token -> the indices of its first and last letter

/** @param {import("./shared.js").Component<Tokens>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".tokens");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  setColours(root, data.palette);
  const isNew = view.text !== data.original;
  Object.assign(view, { text: data.original, at: isNew || view.at === undefined ? data.merges : view.at });
  const refocus = keepFocus(root);
  const rows = data.rows.map((row) => drawRow(view, row));
  const pieces = rows[1];
  const told = element("output", "told");
  const draw = (merges) => {
    const stage = data.stages.findLast((each) => each.merges <= merges) ?? data.stages[0];
    const size = (data.unmerged + merges).toLocaleString("en-US");
    fillRow(view, pieces, stage.tokens, filled(data.label.note, { count: stage.tokens.length, size }));
    return (told.textContent = filled(data.label.told, { merges, newest: newest(data, merges) }));
  };
  const text = { ...data.label, label: data.label.slider };
  const after = (merges) => data.stages.find((each) => each.merges > merges)?.merges;
  const settled = () => view.trigger("merges", view.at);
  const { play, range, show } = playerOf(view, { text, last: data.most, time: STEP_TIME, draw, after, settled });
  pieces.append(element("div", "bar", [play, range, told]));
  root.replaceChildren(...rows);
  show(view.at);
  refocus();
}

// Returns the last applied merge as "a + b"; before the first merge, returns label.none, the text for no merge.
function newest(data, merges) {
  const merge = data.learned[merges - 1];
  return merge ? `${merge[0]} + ${merge[1]}` : data.label.none;
}

function drawRow(view, { name, note, tokens }) {
  const parts = [element("h5", "", name), element("p", "note"), element("ol", "list")];
  const row = element("section", "row", parts);
  fillRow(view, row, tokens, note);
  return row;
}

function fillRow(view, row, tokens, note) {
  row.querySelector(".note").textContent = note;
  const list = row.querySelector(".list");
  roving(list, () => list.replaceChildren(...tokens.map((token, place) => drawToken(view, token, place))), "li");
}

function drawToken(view, { shown, said, first, last, known }, place) {
  const token = element("li", `token tint${place % TINTS}${known ? "" : " unknown"}`, {
    textContent: shown, ariaLabel: said,
  });
  spans.set(token, [first, last]);
  token.onpointerenter = token.onfocus = () => light(view, [first, last]);
  token.onpointerleave = token.onblur = () => light(view, null);
  return token;
}

// Highlights the tokens of all rows that overlap the letters of `span`; if `span` is null, highlights none.
function light(view, span) {
  for (const token of view.root.querySelectorAll(".token")) {
    const [first, last] = spans.get(token);
    token.classList.toggle("lit", Boolean(span) && first < span[1] && span[0] < last);
  }
}
