// Shows one row times one matrix: how the vector of a word becomes its query, key or value.
// Pointing at a number of the result highlights its terms one by one.
// Pointing at a number of the matrix highlights the term with this number.
import { button, element, keepFocus, setColours, stateOf } from "../dom.js";
import { isCalm } from "../flow/motion.js";
import { said } from "../flow/words.js";
import { formulaParts } from "../formula.js";
import { hintOf } from "../touch.js";

/** @typedef {{ text: string, fill: string, ink: string }} Cell a number and its colours */

/**
 * @typedef {object} Product
 * @property {string} word
 * @property {string[]} names the names of the features; empty if they have none
 * @property {Record<"q" | "k" | "v", Role>} roles
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/** @typedef {{ says: string, row: Cell[], matrix: Cell[][], result: Cell[] }} Role */

const STEP = 320; // ms from one highlighted term to the next

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Product} data
 * @property {{ role: 'q' | 'k' | 'v', column: number, term: number | null }} look the highlighted place
 * @property {HTMLElement} sum
 * @property {any} walks the timer that highlights the terms one after the other
 */

/** @param {import("../shared.js").Component<Product>} component */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".product");
  setColours(root, data.palette, ["ink", "faint", "outline", "q", "k", "v", "x"]);
  root.setAttribute("aria-label", said(data.text.alt, { word: data.word }));
  /** @type {View} */
  const view = stateOf(root);
  view.data = data;
  view.look ??= { role: "q", column: 0, term: null };
  view.look.column = Math.min(view.look.column, data.roles[view.look.role].result.length - 1);
  draw(view);
}

/** @param {View} view */
function draw(view) {
  const { data, look } = view;
  const { row, matrix, result } = data.roles[look.role];
  const refocus = keepFocus(view.root);
  const tabs = Object.keys(data.roles).map((role) => tab(view, role));
  const features = row.map((cell, term) => numberCell("feature", cell, { term, name: data.names[term] }));
  const weights = matrix.flatMap((line, term) =>
    line.map((cell, column) => numberCell("weight", cell, { term, column })),
  );
  const results = result.map((cell, column) => resultCell(view, cell, column));
  const sheet = element("div", `sheet ${look.role}`, [
    part(said("x({word})", { word: data.word }), "x", features, row.length), sign("×"),
    part(formulaParts(`W_${look.role}`), look.role, weights, result.length), sign("="),
    part(look.role, look.role, results, result.length),
  ]);
  for (const cell of [...features, ...weights]) {
    cell.onpointerenter = () => pointAt(view, Number(cell.dataset.column ?? look.column), Number(cell.dataset.term));
    cell.onpointerleave = () => pointAt(view, look.column, null);
  }
  view.sum = element("div", "sum", { ariaLive: "polite" });
  view.root.replaceChildren(
    element("div", "tabs", { role: "group", ariaLabel: data.text.choose }, tabs), sheet, view.sum,
    element("p", "hint", hintOf(data.text, "hint")),
  );
  show(view);
  refocus();
}

/** @param {View} view */
function tab(view, role) {
  const isOn = role === view.look.role;
  return button(`tab ${role} ${isOn ? "chosen" : ""}`, { ariaPressed: isOn, place: role }, () => {
    Object.assign(view.look, { role, column: 0, term: null });
    draw(view);
  }, [element("strong", "", formulaParts(`${role} = x W_${role}`)), element("span", "", view.data.roles[role].says)]);
}

const sign = (text) => element("span", "sign", text);

const part = (title, look, cells, columns) =>
  element("div", `part ${look}`, [
    element("div", "name", title),
    element("div", "grid", { style: `grid-template-columns: repeat(${columns}, var(--cell))` }, cells),
  ]);

/**
 * @param {string} kind
 * @param {{ text: string, fill: string, ink: string }} cell
 * @param {{ term: number, column?: number, name?: string }} place
 */
function numberCell(kind, { text, fill, ink }, { term, column, name }) {
  const style = `background: ${fill}; color: ${ink}`;
  const cell = element("div", `cell ${kind}`, { style }, [element("b", "", text)]);
  if (name) cell.append(element("span", "feature-name", name));
  if (term !== undefined) cell.dataset.term = String(term);
  if (column !== undefined) cell.dataset.column = String(column);
  return cell;
}

/** The button of a number of the result; arrow keys up and down highlight its terms. @param {View} view */
function resultCell(view, { text, fill, ink }, column) {
  const { row } = view.data.roles[view.look.role];
  const look = {
    ariaLabel: sumText(view, column), place: `result ${column}`, style: `background: ${fill}; color: ${ink}`,
  };
  const cell = button("cell result", look, () => walk(view, column), [element("b", "", text)]);
  cell.dataset.column = column;
  cell.onpointerenter = () => walk(view, column);
  cell.onfocus = () => pointAt(view, column, null);
  cell.onkeydown = (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way) return;
    const from = view.look.term ?? (way > 0 ? -1 : row.length);
    pointAt(view, column, Math.min(Math.max(from + way, 0), row.length - 1));
    event.preventDefault();
  };
  return cell;
}

/** Highlights the terms one after the other; all at once with reduced motion. @param {View} view */
function walk(view, column) {
  pointAt(view, column, null);
  if (isCalm()) return;
  const count = view.data.roles[view.look.role].row.length;
  const step = (term) => {
    point(view, column, term < count ? term : null);
    if (term < count) view.walks = setTimeout(() => step(term + 1), STEP);
  };
  step(0);
}

/** @param {View} view */
function pointAt(view, column, term) {
  clearTimeout(view.walks);
  point(view, column, term);
}

/** @param {View} view */
function point(view, column, term) {
  Object.assign(view.look, { column, term });
  show(view);
}

const bracketed = (text) => (text.startsWith("−") ? `(${text})` : text);

/** @param {View} view */
function listTerms(view, column) {
  const { row, matrix } = view.data.roles[view.look.role];
  return row.map((cell, term) => `${bracketed(cell.text)} × ${bracketed(matrix[term][column].text)}`);
}

/** @param {View} view */
function sumText(view, column) {
  const { role } = view.look;
  return said(view.data.text.sum, {
    role, place: column + 1, sum: listTerms(view, column).join(" + "),
    result: view.data.roles[role].result[column].text,
  });
}

/** @param {View} view */
function show(view) {
  const { column, term, role } = view.look;
  /** @type {NodeListOf<HTMLElement>} */
  const cells = view.root.querySelectorAll(".cell");
  for (const cell of cells) {
    const isOfColumn = cell.dataset.column === undefined || Number(cell.dataset.column) === column;
    cell.classList.toggle("along", isOfColumn);
    cell.classList.toggle("now", isOfColumn && term !== null && Number(cell.dataset.term) === term);
  }
  const terms = listTerms(view, column).flatMap((text, at) => [
    element("span", at ? "plus" : "", at ? " + " : ""),
    element("span", `term ${at === term ? "now" : ""}`, text),
  ]);
  const [before, after] = said(view.data.text.sum, {
    role, place: column + 1, result: view.data.roles[role].result[column].text,
  }).split("{sum}");
  view.sum.replaceChildren(element("span", "", before), ...terms, element("strong", "", after));
}
