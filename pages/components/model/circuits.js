// Shows the QK and OV circuits of a head on single words: a table for each, with a row and a column per word; and a
// table of the composition scores of earlier heads, with a row for each input of the head.
// A click or the Enter key on a number opens its cell; arrow keys move between numbers.
// A click on the word of a row selects this word, if it is in the sentence.
import { mixed, readable } from "../contrast.js";
import { button, element, keepFocus, setColours, stateOf } from "../dom.js";
import { MOVES } from "../drag.js";
import { said, spellNumber } from "../flow/words.js";
import { printed, rounded } from "../rounded.js";
import { hintOf } from "../touch.js";

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
 * @property {string} [part]
 * @property {string} step
 * @property {number} [head]
 * @property {string[]} [lines] the names of the rows, if they are not the words
 * @property {string[]} [heads] the names of the columns, if they are not the words
 * @property {string[]} [parts] the part of each row, if they differ; the index of a cell is then that of its column
 * @property {number[]} [cells] the index of each column in these parts
 */

/** @param {import("../shared.js").Component<Circuits>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".circuits");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  const { maps, palette, text } = data;
  setColours(root, palette, ["ground", "ink", "faint", "outline", "minus", "plus", "x"]);
  const refocus = keepFocus(root);
  const figures = element("div", "figures", maps.map((map) => figureOf(view, map, data)));
  root.replaceChildren(figures, element("p", "keys", `${text.largest} ${hintOf(text, "keys")}`));
  refocus();
}

function figureOf(view, map, data) {
  const corner = [`${map.columns} →`, `${map.rows} ↓`].map((text) => element("span", "", text));
  const columns = (map.heads ?? data.words).map((word) =>
    element("th", "column", { scope: "col" }, [element("span", "", word)]));
  const head = element("thead", "", [element("tr", "", [element("td", "corner", corner), ...columns])]);
  const reach = Math.max(...map.numbers.flat().map(Math.abs)) || 1;
  const rows = map.numbers.map((numbers, row) => rowOf(view, { map, data, numbers, row, reach }));
  const body = element("tbody", "", rows);
  body.onkeydown = (event) => walk(body, event);
  return element("figure", "circuit", [
    element("h5", "", map.title), element("table", "", { ariaLabel: map.title }, [head, body]),
  ]);
}

function rowOf(view, { map, data, numbers, row, reach }) {
  const { words, places, at, text, palette } = data;
  const [word, place] = map.lines ? [map.lines[row], null] : [words[row], places[row]];
  const look = { textContent: word, title: said(text.look, { word }), place: `${map.step} ${word}` };
  const name =
    place === null
      ? element("span", "word", { textContent: word, title: word })
      : button("word", look, () => view.trigger("word", place));
  const most = numbers.indexOf(Math.max(...numbers));
  const cells = numbers.map((number, column) => {
    const ground = mixed(palette[number < 0 ? "minus" : "plus"], palette.ground, Math.abs(number) / reach);
    const ink = readable(ground, [palette.ink, palette.ground]);
    const title = `${word} → ${(map.heads ?? words)[column]}: ${spellNumber(number)}`;
    const shown = {
      textContent: printed(rounded(number, map.parts ? 2 : 1)), title, ariaLabel: title,
      tabIndex: row || column ? -1 : 0,
      place: `${map.step} ${row} ${column}`, style: `background: rgb(${ground.join(" ")}); color: ${ink}`,
    };
    const cell = map.parts
      ? { part: map.parts[row], step: map.step, index: [map.cells[column]] }
      : { part: map.part, step: map.step, index: [0, map.head, row, column] };
    return element("td", "", [
      button(column === most ? "cell most" : "cell", shown, () => view.trigger("opened", cell)),
    ]);
  });
  const isNow = row === at && !map.lines;
  return element("tr", isNow ? "now" : "", [element("th", "row", { scope: "row" }, [name]), ...cells]);
}

// ---- keys -----------------------------------------------------------------------------------------------------------
// Moves the focus by arrow keys; the Tab key moves from table to table.
function walk(body, event) {
  const move = MOVES[event.key];
  const cell = event.target.closest("button.cell");
  if (!move || !cell) return;
  const { cellIndex, parentElement: line } = cell.closest("td");
  const next = body.rows[line.sectionRowIndex + move[0]]?.cells[cellIndex + move[1]]?.querySelector("button.cell");
  event.preventDefault();
  if (!next) return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
