// A matrix in cells that can be typed into: Enter, another cell or a paste tells every cell that holds something else
// than the matrix. Arrows lead up and down, and at the ends of a text to the next cell; Escape brings the number back.
// data.hint: says that a number is changed by dragging it up or down, too; where it is missing, it is not. data.large:
// whether cells are large though they have no marks.
const STEP = 0.5; // of a number that is dragged
const MOST_PASTED = 200_001; // characters: one more than the server reads
const STEP_PX = 8; // px: so far a hand moves for one step
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector("table");
  const shape = JSON.stringify([data.name, data.rows, data.columns]);
  if (root.shape !== shape) root.replaceChildren(...made(root, data));
  const anew = root.shape !== shape || root.version !== data.version;
  each(root, (cell, row, column) => {
    const number = data.numbers[row][column];
    // A cell with another text is being typed into.
    if (anew || cell.value === cell.number || cell.value === cell.told) cell.value = number;
    Object.assign(cell, { number, told: null });
    cell.classList.toggle("changed", data.changed[row][column]);
    const [mark, told] = data.marks?.[row][column] ?? ["", ""];
    Object.assign(cell.parentElement.dataset, { mark });
    cell.title = told || (data.hint ?? "");
  });
  root.classList.toggle("large", Boolean(data.marks || data.large));
  lay(root, data.place);
  root.classList.toggle("dragged", Boolean(data.hint));
  Object.assign(root, { shape, version: data.version });
  // A number that was written, and is not being changed, is opened by a click.
  root.open = (cell, row, column) => {
    if (data.marks && cell.number && cell.value === cell.number) setTriggerValue("opened", { row, column });
  };
  root.paste = (matrix) => setTriggerValue("typed", [matrix]);
  root.tell = () => {
    const typed = [];
    each(root, (cell, row, column) => {
      if (cell.value === cell.number) return;
      typed.push({ row, column, text: cell.value.slice(0, 40) });
      cell.told = cell.value;
    });
    if (typed.length) setTriggerValue("typed", typed);
  };
}

// Cells that lie in a picture: page.css puts them there.
function lay(root, place) {
  root.classList.toggle("placed", Boolean(place));
  if (!place) return;
  const { left, top, cell, row, column } = place;
  const lengths = { cell, "row-left": row[0] - left, "row-width": row[1] };
  if (column) Object.assign(lengths, { "column-left": column[0] - left, "column-height": column[1] });
  for (const [name, length] of Object.entries(lengths))
    root.parentElement.style.setProperty(`--${name}`, `${length}px`);
  root.classList.toggle("product", Boolean(column));
  const around = root.getRootNode().host?.closest('[class*="st-key-"]');
  around?.style.setProperty("--cells-left", `${left}px`);
  around?.style.setProperty("--cells-top", `${top}px`);
}

function each(root, take) {
  root.querySelectorAll("input").forEach((cell) => take(cell, Number(cell.dataset.row), Number(cell.dataset.column)));
}

function made(root, { name, rows, columns }) {
  const head = document.createElement("tr");
  head.append(document.createElement("td"), ...columns.map((text) => heading(text, "col")));
  return [
    head,
    ...rows.map((text, row) => {
      const line = document.createElement("tr");
      line.append(heading(text, "row"), ...columns.map((above, column) => box(root, [name, text, above], row, column)));
      return line;
    }),
  ];
}

function heading(text, scope) {
  const cell = document.createElement("th");
  cell.scope = scope;
  cell.textContent = text;
  return cell;
}

function box(root, names, row, column) {
  const cell = document.createElement("input");
  cell.ariaLabel = names.join(", ");
  Object.assign(cell.dataset, { row, column });
  Object.assign(cell, { autocomplete: "off", spellcheck: false, maxLength: 40, number: "", told: null });
  cell.onclick = () => root.open(cell, row, column);
  cell.onfocus = () => {
    cell.select();
    Object.entries({ row, column }).forEach(([name, at]) => root.parentElement.style.setProperty(`--${name}`, at));
  };
  cell.onchange = () => root.tell();
  cell.ondragstart = () => false; // the text that is marked stays
  cell.onpointerdown = (event) => {
    if (root.classList.contains("dragged")) drag(root, cell, event); // false given back would keep the focus away
  };
  cell.onkeydown = (event) => pressed(root, cell, event);
  cell.onpaste = (event) => pasted(root, cell, event);
  const place = document.createElement("td");
  place.append(cell);
  return place;
}

// A hand that moves up makes the number larger; the server hears of it when the hand lets go.
function drag(root, cell, { clientY, pointerId }) {
  const start = cell.value;
  const from = Number(start.replace("−", "-"));
  if (!Number.isFinite(from)) return;
  cell.setPointerCapture(pointerId);
  cell.onpointermove = (event) => {
    const steps = Math.trunc((clientY - event.clientY) / STEP_PX);
    if (!steps && cell.value === start) return;
    cell.value = String(Number((from + steps * STEP).toFixed(6))).replace("-", "−");
  };
  cell.onpointerup = cell.onpointercancel = () => {
    cell.onpointermove = cell.onpointerup = cell.onpointercancel = null;
    root.tell();
  };
}

function at(root, row, column) {
  return root.querySelector(`input[data-row="${row}"][data-column="${column}"]`);
}

function pressed(root, cell, event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.key === "Escape") cell.value = cell.number;
  if (event.key === "Enter") root.tell();
  const [row, column] = [Number(cell.dataset.row), Number(cell.dataset.column)];
  const [from, to, end] = [cell.selectionStart, cell.selectionEnd, cell.value.length];
  const whole = from === 0 && to === end;
  const ways = { Enter: [1, 0], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  if (whole || to === 0) ways.ArrowLeft = [0, -1];
  if (whole || from === end) ways.ArrowRight = [0, 1];
  const way = ways[event.key];
  if (!way) return;
  event.preventDefault();
  at(root, row + way[0], column + way[1])?.focus();
}

// A matrix fills the cells to the right and below: the server reads it as it reads any that is pasted.
function pasted(root, cell, event) {
  const text = event.clipboardData.getData("text");
  if (!/[\t\n\s,;|&[({<]./.test(text.trim())) return; // one number
  event.preventDefault();
  root.paste({
    row: Number(cell.dataset.row), column: Number(cell.dataset.column), text: text.slice(0, MOST_PASTED), pasted: true,
  });
}
