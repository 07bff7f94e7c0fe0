// Shows a matrix of number fields, and sends each cell whose text differs from the matrix to the server.
// A cell is sent after Enter, or when the visitor leaves the field. A pasted matrix is sent as text.
// What was typed while the server was busy stays in its cell until the server has answered it.
// Arrow keys move up and down, and at the ends of a text to the next cell. Escape restores a cell's number.
import { element, stateOf } from "./dom.js";
import { followPointer } from "./drag.js";
import { Outbox, textToShow } from "./outbox.js";
import { plain } from "./rounded.js";

/**
 * @typedef {object} Numbers
 * @property {string} name
 * @property {string[]} rows the names of the rows
 * @property {string[]} columns the names of the columns
 * @property {string[][]} numbers
 * @property {boolean[][]} changed
 * @property {string} version a text that changes if the cells show something else, so that typed text is discarded
 * @property {number} answered the number of the last message that the server has read
 * @property {[mark: string, told: string][][]} [marks]
 * @property {string} [hint] a text that says that a number can be dragged; missing if dragging is off
 * @property {boolean} [large] whether cells are large though they have no marks
 * @property {any} [place] the lengths in px that place the cells in a picture
 */

const STEP = 0.5; // change of a dragged number per STEP_PX of pointer movement
// most characters of a pasted text: one more than the server accepts, so that it refuses longer texts
const MOST_PASTED = 200_001;
const STEP_PX = 8; // px of pointer movement that change a number by one STEP

/** @param {import("./shared.js").Component<Numbers>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector("table");
  const view = stateOf(root);
  const shape = JSON.stringify([data.name, data.rows, data.columns]);
  const isNew = view.shape !== shape || view.version !== data.version;
  if (view.shape !== shape) build(view, data);
  view.outbox ??= new Outbox();
  if (isNew) view.outbox.clear();
  view.outbox.answer(data.answered);
  Object.assign(view, { data, shape, version: data.version, trigger: setTriggerValue });
  for (const cell of view.cells.flat()) showNumber(view, cell, isNew);
  root.classList.toggle("large", Boolean(data.marks || data.large));
  lay(root, data.place);
  root.classList.toggle("dragged", Boolean(data.hint));
}

/**
 * Shows the number of a cell, unless the visitor has typed something else into the cell.
 * @param {any} view
 * @param {any} cell
 * @param {boolean} isNew whether another matrix is shown
 */
function showNumber({ data: { numbers, changed, marks, hint }, outbox }, cell, isNew) {
  const { input, row, column } = cell;
  const number = numbers[row][column];
  const waits = outbox.waits(row, column);
  input.value = isNew ? number : textToShow(input.value, cell.told ?? cell.number, number, waits);
  Object.assign(cell, { number, told: waits ? cell.told : null });
  input.classList.toggle("changed", changed[row][column]);
  const [mark, told] = marks?.[row][column] ?? ["", ""];
  input.parentElement.dataset.mark = mark;
  input.title = told || (hint ?? "");
}

// Asks the server to open a clicked cell, if the matrix has marks and the cell's number is unchanged.
function open({ data, trigger }, { input, number, row, column }) {
  if (data.marks && number && input.value === number) trigger("opened", { row, column });
}

// Sends every cell whose text has changed since it was sent last, or since the server's number, to the server.
function tell(view) {
  const typed = view.cells.flat().filter(({ input, told, number }) => input.value !== (told ?? number));
  for (const cell of typed) cell.told = cell.input.value;
  if (typed.length) send(view, typed.map(({ row, column, told }) => ({ row, column, text: told.slice(0, 40) })));
}

const send = ({ version, outbox, trigger }, typed) => trigger("typed", { version, ...outbox.send(typed) });

// Sets the CSS variables by which page.css places the cells in a picture.
function lay(root, place) {
  root.classList.toggle("placed", Boolean(place));
  if (!place) return;
  const { left, top, cell, row, column, seen } = place;
  const lengths = { cell, "row-left": row[0] - left, "row-width": row[1] };
  if (column) Object.assign(lengths, { "column-left": column[0] - left, "column-height": column[1] });
  for (const [name, length] of Object.entries(lengths))
    root.parentElement.style.setProperty(`--${name}`, `${length}px`);
  root.classList.toggle("product", Boolean(column));
  const around = root.getRootNode().host?.closest('[class*="st-key-"]');
  /** @type {HTMLElement | undefined} */
  const picture = root.getRootNode().host?.closest(".st-key-worked");
  picture?.style.setProperty("--seen", String(seen));
  around?.style.setProperty("--cells-left", `${left}px`);
  around?.style.setProperty("--cells-top", `${top}px`);
}

// Builds the table of number fields and view.cells, a matrix of { input, row, column, number, told }.
// number: the text that the server sent. told: the text that was sent to it last; null once it is answered.
function build(view, { name, rows, columns }) {
  view.cells = rows.map((text, row) => columns.map((above, column) => cellOf(view, [name, text, above], row, column)));
  const head = element("tr", "", [element("td"), ...columns.map((text) => heading(text, "col"))]);
  const lines = rows.map((text, row) => {
    const cells = view.cells[row].map(({ input }) => element("td", "", [input]));
    return element("tr", "", [heading(text, "row"), ...cells]);
  });
  view.root.replaceChildren(head, ...lines);
}

const heading = (textContent, scope) => element("th", "", { textContent, scope });

function cellOf(view, names, row, column) {
  const input = element("input", "", {
    ariaLabel: names.join(", "), autocomplete: "off", spellcheck: false, maxLength: 40,
  });
  const cell = { input, row, column, number: "", told: null };
  Object.assign(input.dataset, { row, column });
  input.onclick = () => open(view, cell);
  input.onfocus = () => {
    input.select();
    const { style } = view.root.parentElement;
    for (const [name, at] of Object.entries({ row, column })) style.setProperty(`--${name}`, at);
  };
  input.onchange = () => tell(view);
  input.ondragstart = () => false; // prevents dragging of selected text
  input.onpointerdown = (event) => {
    if (view.data.hint) drag(view, input, event); // returns nothing, because returning false would prevent the focus
  };
  input.onkeydown = (event) => press(view, cell, event);
  input.onpaste = (event) => paste(view, cell, event);
  return cell;
}

// Lets the visitor change a field's number by dragging; upwards increases it.
// When the pointer is released, the number is sent to the server.
function drag(view, input, event) {
  const start = input.value;
  const from = Number(start.replace("−", "-"));
  if (!Number.isFinite(from)) return;
  const move = ({ clientY }) => {
    const steps = Math.trunc((event.clientY - clientY) / STEP_PX);
    if (!steps && input.value === start) return;
    input.value = plain(Number((from + steps * STEP).toFixed(6)));
  };
  followPointer(input, event, { move, release: () => tell(view) });
}

function press(view, { input, number, row, column }, event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.key === "Escape") input.value = number;
  if (event.key === "Enter") tell(view);
  const [from, to, end] = [input.selectionStart, input.selectionEnd, input.value.length];
  const isWhole = from === 0 && to === end;
  const ways = { Enter: [1, 0], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  if (isWhole || to === 0) ways.ArrowLeft = [0, -1];
  if (isWhole || from === end) ways.ArrowRight = [0, 1];
  const way = ways[event.key];
  if (!way) return;
  event.preventDefault();
  view.cells[row + way[0]]?.[column + way[1]]?.input.focus();
}

// Sends a pasted matrix as text; the server parses it and fills the cells to the right and below.
function paste(view, { row, column }, event) {
  const text = event.clipboardData.getData("text");
  if (!/[\t\n\s,;|&[({<]./.test(text.trim())) return; // a single number, which the browser itself pastes
  event.preventDefault();
  send(view, [{ row, column, text: text.slice(0, MOST_PASTED), pasted: true }]);
}
