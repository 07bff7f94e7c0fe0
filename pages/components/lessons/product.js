// One row times one matrix, as the row of a word becomes its query, key or value: who points at a number of the result
// sees its column run along the row, term by term; who points at a number of the matrix, its own term.
// data: { word, names, roles, palette, text }. roles: of q, k and v { says, row, matrix, result }, cells as
// { text, fill, ink }. names: of the features, as many as the row has numbers, or none.
import { button, element, keepFocus, setColours } from "../dom.js";
import { said } from "../flow/words.js";

const STEP = 320; // ms between two terms

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".product");
  setColours(root, data.palette, ["ink", "faint", "outline", "q", "k", "v", "x"]);
  root.setAttribute("aria-label", said(data.text.alt, { word: data.word }));
  root.data = data;
  root.look ??= { role: "q", column: 0, term: null };
  root.look.column = Math.min(root.look.column, data.roles[root.look.role].result.length - 1);
  draw(root);
}

function draw(root) {
  const { data, look } = root;
  const { row, matrix, result } = data.roles[look.role];
  const refocus = keepFocus(root);
  const tabs = element("div", "tabs", { role: "group", ariaLabel: data.text.choose });
  tabs.append(...Object.keys(data.roles).map((role) => tab(root, role)));
  const sheet = element("div", `sheet ${look.role}`);
  const features = row.map((cell, term) => numberCell("feature", cell, { term, name: data.names[term] }));
  const weights = matrix.flatMap((line, term) =>
    line.map((cell, column) => numberCell("weight", cell, { term, column })),
  );
  const results = result.map((cell, column) => resultCell(root, cell, column));
  sheet.append(
    part(said("x({word})", { word: data.word }), "x", features, row.length), sign("×"),
    part(`W_${look.role}`, look.role, weights, result.length), sign("="),
    part(look.role, look.role, results, result.length),
  );
  for (const cell of [...features, ...weights]) {
    cell.onpointerenter = () => pointAt(root, Number(cell.dataset.column ?? look.column), Number(cell.dataset.term));
    cell.onpointerleave = () => pointAt(root, look.column, null);
  }
  root.sum = element("div", "sum", { ariaLive: "polite" });
  root.replaceChildren(tabs, sheet, root.sum, element("p", "hint", data.text.hint));
  show(root);
  refocus();
}

function tab(root, role) {
  const isOn = role === root.look.role;
  const made = button(`tab ${role} ${isOn ? "chosen" : ""}`, { ariaPressed: isOn }, () => {
    Object.assign(root.look, { role, column: 0, term: null });
    draw(root);
  });
  made.append(
    element("strong", "", `${role} = x W_${role}`),
    element("span", "", root.data.roles[role].says),
  );
  made.dataset.place = role;
  return made;
}

const sign = (textContent) => element("span", "sign", { textContent });

function part(title, look, cells, columns) {
  const made = element("div", `part ${look}`);
  const grid = element("div", "grid");
  grid.style.gridTemplateColumns = `repeat(${columns}, var(--cell))`;
  grid.append(...cells);
  made.append(element("div", "name", title), grid);
  return made;
}

/**
 * @param {string} kind
 * @param {{ text: string, fill: string, ink: string }} cell
 * @param {{ term: number, column?: number, name?: string }} place
 */
function numberCell(kind, { text, fill, ink }, { term, column, name }) {
  const cell = element("div", `cell ${kind}`);
  cell.append(element("b", "", text));
  if (name) cell.append(element("span", "feature-name", name));
  Object.assign(cell.style, { background: fill, color: ink });
  if (term !== undefined) cell.dataset.term = term;
  if (column !== undefined) cell.dataset.column = column;
  return cell;
}

// A number of the result is a stop of the keyboard; the arrows up and down walk along its terms.
function resultCell(root, { text, fill, ink }, column) {
  const { row } = root.data.roles[root.look.role];
  const cell = button("cell result", { ariaLabel: sumText(root, column) }, () => walk(root, column));
  cell.append(element("b", "", text));
  Object.assign(cell.style, { background: fill, color: ink });
  cell.dataset.place = `result ${column}`;
  cell.dataset.column = column;
  cell.onpointerenter = () => walk(root, column);
  cell.onfocus = () => pointAt(root, column, null);
  cell.onkeydown = (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way) return;
    const from = root.look.term ?? (way > 0 ? -1 : row.length);
    pointAt(root, column, Math.min(Math.max(from + way, 0), row.length - 1));
    event.preventDefault();
  };
  return cell;
}

// The terms one after the other, at once where nothing may move.
function walk(root, column) {
  pointAt(root, column, null);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const count = root.data.roles[root.look.role].row.length;
  const step = (term) => {
    point(root, column, term < count ? term : null);
    if (term < count) root.walks = setTimeout(() => step(term + 1), STEP);
  };
  step(0);
}

function pointAt(root, column, term) {
  clearTimeout(root.walks);
  point(root, column, term);
}

function point(root, column, term) {
  Object.assign(root.look, { column, term });
  show(root);
}

const bracketed = (text) => (text.startsWith("−") ? `(${text})` : text);

function listTerms(root, column) {
  const { row, matrix } = root.data.roles[root.look.role];
  return row.map((cell, term) => `${bracketed(cell.text)} × ${bracketed(matrix[term][column].text)}`);
}

function sumText(root, column) {
  const { role } = root.look;
  return said(root.data.text.sum, {
    role, place: column + 1, sum: listTerms(root, column).join(" + "),
    result: root.data.roles[role].result[column].text,
  });
}

function show(root) {
  const { column, term, role } = root.look;
  for (const cell of root.querySelectorAll(".cell")) {
    const isOfColumn = cell.dataset.column === undefined || Number(cell.dataset.column) === column;
    cell.classList.toggle("along", isOfColumn);
    cell.classList.toggle("now", isOfColumn && term !== null && Number(cell.dataset.term) === term);
  }
  const terms = listTerms(root, column).flatMap((text, at) => [
    element("span", at ? "plus" : "", at ? " + " : ""),
    element("span", `term ${at === term ? "now" : ""}`, text),
  ]);
  const [before, after] = said(root.data.text.sum, {
    role, place: column + 1, result: root.data.roles[role].result[column].text,
  }).split("{sum}");
  root.sum.replaceChildren(
    element("span", "", before), ...terms, element("strong", "", after),
  );
}
