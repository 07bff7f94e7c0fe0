// The QK and OV circuits of a head on words alone: a table per circuit, with a row and a column per word. A click or
// Enter opens the cell of a number; arrow keys move between numbers; a click on a row's word selects that word if it is
// in the sentence.
import { added, keepFocus, setColours, stateOf } from "../dom.js";
import { said, spellNumber } from "../flow/words.js";
import { printed, rounded } from "../rounded.js";

/**
 * @typedef {object} Circuits
 * @property {string[]} words the words of the rows and columns
 * @property {(number | null)[]} places the position of each word in the sentence, or null
 * @property {number} at the row of the selected word
 * @property {Circuit[]} maps
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/**
 * @typedef {object} Circuit a table of numbers
 * @property {string} title
 * @property {string} rows the label of the rows
 * @property {string} columns the label of the columns
 * @property {number[][]} numbers
 * @property {string} part
 * @property {string} step
 * @property {number} head
 */

/** @param {import("../shared.js").Component<Circuits>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".circuits");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  const { maps, palette, text } = data;
  setColours(root, palette, ["ground", "ink", "faint", "outline", "minus", "plus", "x"]);
  const refocus = keepFocus(root);
  const figures = document.createElement("div");
  figures.className = "figures";
  for (const map of maps) figureOf(figures, view, map, data);
  const keys = added(document.createDocumentFragment(), "p", "keys");
  keys.textContent = `${text.largest} ${text.keys}`;
  root.replaceChildren(figures, keys);
  refocus();
}

function figureOf(figures, view, map, data) {
  const figure = added(figures, "figure", "circuit");
  added(figure, "h6", "").textContent = map.title;
  const table = added(figure, "table", "");
  table.setAttribute("aria-label", map.title);
  const head = added(added(table, "thead", ""), "tr", "");
  const corner = added(head, "td", "corner");
  added(corner, "span", "").textContent = `${map.columns} →`;
  added(corner, "span", "").textContent = `${map.rows} ↓`;
  for (const word of data.words) {
    const column = added(head, "th", "column");
    column.scope = "col";
    added(column, "span", "").textContent = word;
  }
  const reach = Math.max(...map.numbers.flat().map(Math.abs)) || 1;
  const body = added(table, "tbody", "");
  map.numbers.forEach((numbers, row) => rowOf(body, view, { map, data, numbers, row, reach }));
  body.onkeydown = (event) => walk(body, event);
  body.querySelector("button.cell").tabIndex = 0;
}

function rowOf(body, view, { map, data, numbers, row, reach }) {
  const { words, places, at, text, palette } = data;
  const line = added(body, "tr", row === at ? "now" : "");
  const head = added(line, "th", "row");
  head.scope = "row";
  const word = added(head, places[row] === null ? "span" : "button", "word");
  word.textContent = word.title = words[row];
  if (places[row] !== null) {
    word.type = "button";
    word.dataset.place = `${map.step} ${words[row]}`;
    word.title = said(text.look, { word: words[row] });
    word.onclick = () => view.trigger("word", places[row]);
  }
  const most = numbers.indexOf(Math.max(...numbers));
  numbers.forEach((number, column) => {
    const cell = added(added(line, "td", ""), "button", column === most ? "cell most" : "cell");
    const height = Math.abs(number) / reach;
    const ground = mixed(palette[number < 0 ? "minus" : "plus"], palette.ground, height);
    cell.type = "button";
    cell.tabIndex = -1;
    cell.textContent = printed(rounded(number, 1));
    cell.style.background = `rgb(${ground.join(" ")})`;
    cell.style.color = [palette.ink, palette.ground].sort(
      (one, other) => contrast(ground, other) - contrast(ground, one),
    )[0];
    cell.title = `${words[row]} → ${words[column]}: ${spellNumber(number)}`;
    cell.setAttribute("aria-label", cell.title);
    cell.dataset.place = `${map.step} ${row} ${column}`;
    cell.onclick = () => view.trigger("opened", { part: map.part, step: map.step, index: [0, map.head, row, column] });
  });
}

// ---- colours --------------------------------------------------------------------------------------------------------
const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

function mixed(colour, ground, share) {
  const under = channels(ground);
  return channels(colour).map((channel, i) => Math.round(channel * share + under[i] * (1 - share)));
}

// The contrast ratio of two colours by WCAG 2.2.
function contrast(ground, colour) {
  const [dark, light] = [ground, channels(colour)].map(luminance).sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(rgb) {
  const [red, green, blue] = rgb.map((channel) =>
    channel / 255 <= 0.04045 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// ---- keys -----------------------------------------------------------------------------------------------------------
// Moves the focus by arrow keys; each table is one stop of the Tab key.
function walk(body, event) {
  const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  const cell = event.target.closest("button.cell");
  if (!move || !cell) return;
  const [row, column] = cell.dataset.place.split(" ").slice(-2).map(Number);
  const step = cell.dataset.place.split(" ")[0];
  const next = body.querySelector(`[data-place="${step} ${row + move[0]} ${column + move[1]}"]`);
  event.preventDefault();
  if (!next) return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
