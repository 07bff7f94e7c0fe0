// Draws one matrix on a canvas from its data and a view (zoom, scroll position): cells, texts, scale, outlines.
// Cells are a whole number of device pixels wide, so that all have the same size.
import { button, element } from "./dom.js";
import { clamp } from "./flow/motion.js";
import { BLOCKED, hatch, penOf, pixels } from "./pixels.js";
import { digits, filled, letters, WIDE } from "./printed.js";
import { fixed } from "./rounded.js";
import { hintOf } from "./touch.js";

const CELL = 40; // CSS px: the largest side of a cell while the whole map is shown
const READABLE = 26; // CSS px: the least width of a cell that shows its number
const NEAREST = 64;
const TALL = 520; // CSS px: the largest height of all cells, so that a projector shows the whole map
const FEW = 4; // least number of rows and columns visible at CELL size, even in a narrow map
const SMALL = 13; // CSS px: SMALL is the least font size, LARGE the largest
const LARGE = 16;
const MARGIN = 120; // CSS px: MARGIN is the most width of texts beside rows, ROOM the most height above columns
const ROOM = 110;
const OVERHANG = 100; // CSS px: the width of tilted texts beyond the last column
const RAMP = { wide: 260, tall: 40 };

/** @typedef {{ row: number, column: number }} Cell of the drawn cells */

export class Sheet {
  constructor(root) {
    this.root = root;
    this.ratio = 1; // device pixels per CSS pixel
    /** @type {Cell | null} */
    this.at = null; // the marked cell: hovered, or reached by the arrow keys
    this.buttons = ["in", "out", "whole"].map((name) =>
      button("", {}, () => this.zoom({ in: this.nearer(1), out: this.nearer(-1), whole: this.whole }[name])),
    );
    this.seen = element("span", "seen");
    this.tools = element("div", "tools", [...this.buttons, this.seen]);
    this.base = element("canvas");
    this.over = element("canvas", "over");
    this.stage = element("div", "stage", { tabIndex: 0, role: "application" }, [this.base, this.over]);
    this.pen = penOf(this.base);
    this.read = element("p", "read", { ariaLive: "polite" });
    root.append(this.tools, this.stage, this.read);
    new ResizeObserver(() => this.data && this.lay()).observe(root);
  }

  // ---- data ---------------------------------------------------------------------------------------------------------
  // Stores new data; returns whether they belong to the same matrix as before.
  // If the matrix is the same, zoom and scroll position stay; otherwise all its cells are shown.
  take(data) {
    const before = this.data;
    const same = before && before.drawn.join() === data.drawn.join() && before.step === data.step;
    const [rows, columns] = data.drawn;
    const column = (Kind, bytes) => new Kind(bytes.buffer, bytes.byteOffset, rows * columns);
    this.data = data;
    /** @type {Float32Array} */
    this.numbers = column(Float32Array, data.numbers);
    /** @type {Int32Array | null} */
    this.places = data.places.length ? column(Int32Array, data.places) : null;
    /** @type {HTMLCanvasElement} */
    this.image = pixels(data.cells, rows, columns, data.fills);
    if (!same) {
      this.unit = 0; // cell width; 0 while the whole map is shown
      this.at = null;
    }
    return same;
  }

  present() {
    const { words, label } = this.data;
    this.stage.ariaLabel = label;
    [words.in, words.out, words.whole].forEach((title, n) =>
      Object.assign(this.buttons[n], { title, ariaLabel: title, textContent: ["+", "−", title][n] }),
    );
    this.width = null; // the width of the texts is measured again, because the texts may have changed
    this.lay();
  }

  // Returns which cell of the matrix a drawn cell shows.
  // If a drawn cell stands for a block of cells, returns the cell of the block that the server has picked.
  place({ row, column }) {
    const n = row * this.data.drawn[1] + column;
    const place = this.places ? this.places[n] : n;
    const columns = this.data.shape[1];
    return { n, row: Math.floor(place / columns), column: place % columns };
  }

  // ---- sizes --------------------------------------------------------------------------------------------------------
  lay() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.floor(this.root.clientWidth);
    if (!width || (width === this.width && ratio === this.ratio)) return;
    const wasWhole = !this.unit || this.unit === this.whole;
    const near = this.unit / this.ratio;
    [this.width, this.ratio] = [width, ratio];
    this.measure();
    this.unit = wasWhole ? this.whole : clamp(Math.round(near * ratio), this.whole, this.nearest);
    if (wasWhole) [this.x, this.y] = [0, 0];
    this.tools.hidden = !this.data.note && this.whole >= READABLE * ratio && this.fitsWhole();
    this.stage.style.width = this.sheet + "px";
    for (const canvas of [this.base, this.over]) {
      canvas.style.width = this.sheet + "px";
      canvas.style.height = this.height + "px";
      const [wide, tall] = [Math.round(this.sheet * ratio), Math.round(this.height * ratio)];
      if (canvas.width !== wide) canvas.width = wide; // setting even the same width would clear the canvas
      if (canvas.height !== tall) canvas.height = tall;
    }
    this.draw();
  }

  // Computes the margins, the least and largest cell width, and the sizes of the view and of the sheet around it.
  measure() {
    const { data, width, ratio } = this;
    const [rows, columns] = data.drawn;
    this.font = getComputedStyle(this.stage).fontFamily;
    const widest = (texts, size) => Math.max(...[...new Set(texts)].map((text) => this.wide(text, size)));
    /** @type {number} */
    this.left = Math.ceil(Math.min(MARGIN, width / 4, widest(data.rows, LARGE) + 12));
    const room = width - this.left - 8;
    const fits = Math.min((room * ratio) / columns, (TALL * ratio) / rows, CELL * ratio);
    /** @type {number} */
    this.whole = Math.max(1, Math.floor(fits));
    const cell = this.whole / ratio;
    /** @type {boolean} */
    this.level = widest(data.columns, this.size(cell)) <= cell - 2;
    /** @type {number} */
    this.top = this.level ? Math.ceil(1.6 * LARGE) : this.room(data.columns);
    const across = Math.min(room, Math.max(columns * cell, Math.min(columns, FEW) * CELL));
    const down = Math.min(TALL, Math.max(rows * cell, Math.min(rows, FEW) * CELL));
    /** @type {{ wide: number, tall: number }} */
    this.view = { wide: Math.round(across * ratio), tall: Math.round(down * ratio) };
    /** @type {number} */
    this.widest = Math.max(...this.extremes().map((value) => this.wide(fixed(value), 1)));
    /** @type {number} */
    this.nearest = Math.round(Math.max(NEAREST, 4 + 12 * this.widest) * ratio);
    const right = this.left + across + (this.level ? 8 : OVERHANG);
    const scale = data.ramp.length ? RAMP : { wide: 0, tall: 6 };
    /** @type {number} */
    this.sheet = Math.ceil(Math.min(width, Math.max(right, this.left + scale.wide)));
    /** @type {number} */
    this.height = this.top + this.view.tall / ratio + scale.tall;
  }

  size(cell) {
    return clamp(cell * 0.8, SMALL, LARGE);
  }

  wide(text, size) {
    // texts are measured at 16 times the size, because small widths are rounded
    this.pen.font = `${16 * size}px ${this.font}`;
    return this.pen.measureText(text).width / 16;
  }

  // Returns the height of the texts above the columns.
  // Above the columns, Chinese is written downwards and Latin text upwards.
  room(texts) {
    const need = [...new Set(texts)].map((text) =>
      WIDE.test(text) ? letters(text).length * LARGE + 14 : this.wide(text, SMALL) + 16,
    );
    return Math.ceil(Math.min(ROOM, Math.max(1.6 * LARGE, ...need)));
  }

  // Returns the least and the largest finite number, including 0.
  // The widest text of a number is that of the least or of the largest number.
  extremes() {
    let [least, most] = [0, 0];
    for (const value of this.numbers) {
      if (value < least && value !== -Infinity) least = value;
      else if (value > most && value !== Infinity) most = value;
    }
    return [least, most];
  }

  fitsWhole() {
    const [rows, columns] = this.data.drawn;
    return columns * this.unit <= this.view.wide && rows * this.unit <= this.view.tall;
  }

  // ---- the view -----------------------------------------------------------------------------------------------------
  // Returns the cell width in whole pixels after one zoom step: 1.5 times as large (way 1) or as small (way -1).
  nearer(way) {
    const next = Math.round(this.unit * 1.5 ** way);
    return clamp(next === this.unit ? this.unit + way : next, this.whole, this.nearest);
  }

  // Sets the cell width; the point [x, y] of the view, in device pixels, stays where it is.
  zoom(unit, [x, y] = this.middle()) {
    if (unit === this.unit) return;
    const factor = unit / this.unit;
    this.unit = unit;
    this.move((this.x + x) * factor - x, (this.y + y) * factor - y);
  }

  // Returns the centre [x, y] of the marked cell, else of the chosen cell.
  // If neither the marked nor the chosen cell is visible, returns the middle of the view.
  middle() {
    const { wide, tall } = this.view;
    const cell = this.at ?? this.chosen();
    const [x, y] = cell ? [(cell.column + 0.5) * this.unit - this.x, (cell.row + 0.5) * this.unit - this.y] : [-1, -1];
    return x >= 0 && y >= 0 && x <= wide && y <= tall ? [x, y] : [wide / 2, tall / 2];
  }

  // Returns the drawn cell that contains the chosen cell of the matrix; null if no cell is chosen.
  chosen() {
    const { chosen, every } = this.data;
    return chosen && { row: Math.floor(chosen[0] / every[0]), column: Math.floor(chosen[1] / every[1]) };
  }

  move(x, y) {
    this.x = x;
    this.y = y;
    this.draw();
  }

  reveal({ row, column }) {
    const inside = (from, cell, length) =>
      Math.max((cell + 1) * this.unit - length, Math.min(from, cell * this.unit));
    this.move(inside(this.x, column, this.view.wide), inside(this.y, row, this.view.tall));
  }

  /** Marks a cell or none; returns whether that is new. @param {Cell | null} at */
  mark(at) {
    if (at?.row === this.at?.row && at?.column === this.at?.column) return false;
    this.at = at;
    return true;
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------
  draw() {
    const { data, pen, unit, view, ratio } = this;
    const [rows, columns] = data.drawn;
    this.x = Math.round(clamp(this.x, 0, Math.max(0, columns * unit - view.wide)));
    this.y = Math.round(clamp(this.y, 0, Math.max(0, rows * unit - view.tall)));
    const first = { row: Math.floor(this.y / unit), column: Math.floor(this.x / unit) };
    const end = {
      row: Math.min(rows, Math.ceil((this.y + view.tall) / unit)),
      column: Math.min(columns, Math.ceil((this.x + view.wide) / unit)),
    };
    /** @type {{ first: Cell, end: Cell }} */
    this.window = { first, end };
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.base.width, this.base.height);
    this.clip(pen);
    const [x, y] = [first.column * unit - this.x, first.row * unit - this.y];
    const [across, down] = [end.column - first.column, end.row - first.row];
    pen.fillStyle = data.palette.ground;
    pen.fillRect(x, y, across * unit, down * unit);
    pen.lineWidth = ratio;
    const gap = unit * Math.ceil((6 * ratio) / unit);
    hatch(pen, x, y, across * unit, down * unit, -this.x, -this.y, gap, data.palette.ink);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.image, first.column, first.row, across, down, x, y, across * unit, down * unit);
    if (unit >= 8 * ratio) this.drawGrid(x, y, across, down);
    if (unit >= READABLE * ratio) this.drawNumbers();
    pen.restore();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = data.palette.ink;
    this.drawRows();
    this.drawColumns();
    this.drawRamp();
    this.drawOver();
    this.tell();
    const near = !this.fitsWhole();
    this.stage.style.touchAction = data.paint || near ? "none" : "pan-x pan-y";
    this.stage.style.cursor = data.paint ? "crosshair" : near ? "grab" : "pointer";
    this.buttons[0].disabled = unit >= this.nearest;
    this.buttons[1].disabled = this.buttons[2].disabled = unit <= this.whole;
    const part = { a: first.row + 1, b: end.row, rows, c: first.column + 1, d: end.column, columns };
    this.seen.textContent = [data.note, near ? filled(data.words.window, part) : ""].filter(Boolean).join(" · ");
  }

  // Limits drawing to the view, with its upper left corner as the origin, until pen.restore().
  clip(pen) {
    pen.save();
    pen.translate(Math.round(this.left * this.ratio), Math.round(this.top * this.ratio));
    pen.beginPath();
    pen.rect(0, 0, this.view.wide, this.view.tall);
    pen.clip();
  }

  drawGrid(x, y, across, down) {
    const { pen, unit } = this;
    pen.strokeStyle = this.data.palette.faint;
    pen.lineWidth = this.ratio / 2;
    pen.beginPath();
    for (let n = 0; n <= across; n++) pen.rect(x + n * unit, y, 0, down * unit);
    for (let n = 0; n <= down; n++) pen.rect(x, y + n * unit, across * unit, 0);
    pen.stroke();
  }

  // Draws the numbers of the visible cells, all in one font size.
  drawNumbers() {
    const { pen, unit, data } = this;
    const size = data.is_bool ? 16 : Math.min(16, (unit / this.ratio - 4) / this.widest);
    if (size < 9) return;
    pen.font = `${size * this.ratio}px ${this.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const { first, end } = this.window;
    for (let row = first.row; row < end.row; row++) {
      for (let column = first.column; column < end.column; column++) {
        const n = row * data.drawn[1] + column;
        if (Math.abs(this.numbers[n]) < data.least) continue;
        pen.fillStyle = data.inks[data.cells[n]];
        pen.fillText(this.text(n), (column + 0.5) * unit - this.x, (row + 0.5) * unit - this.y);
      }
    }
  }

  text(n) {
    const value = this.numbers[n];
    if (this.data.is_bool) return value ? "✓" : "";
    return value === 0 && this.data.cells[n] === BLOCKED ? "0" : fixed(value);
  }

  cut(text, room, size) {
    if (this.wide(text, size) <= room) return text;
    const kept = letters(text);
    while (kept.length && this.wide(kept.join("") + "…", size) > room) kept.pop();
    return kept.join("") + "…";
  }

  // Calls draw(text, middle, isMarked) for visible labels along an axis, at least `room` CSS pixels apart.
  // The label of the marked cell is always drawn; labels that would overlap it are left out.
  labels(texts, every, from, length, count, room, marked, draw) {
    const cell = this.unit / this.ratio;
    const thinned = Math.max(1, Math.ceil(room / cell));
    const at = marked === null ? null : Math.floor(marked / every);
    const put = (n, text, isMarked) => {
      const middle = (n + 0.5) * cell - from / this.ratio;
      if (middle >= 0 && middle <= length / this.ratio) draw(text, middle, isMarked);
    };
    for (let n = 0; n < count; n += thinned) {
      if (at === null || Math.abs(n - at) * cell >= room) put(n, texts[n * every], false);
    }
    if (at !== null) put(at, texts[marked], true);
  }

  drawRows() {
    const { pen, data } = this;
    const size = this.size(this.unit / this.ratio);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const marked = data.chosen?.[0] ?? data.query ?? null;
    this.labels(
      data.rows,
      data.every[0],
      this.y, this.view.tall,
      data.drawn[0],
      size + 4,
      marked,
      (text, y, isMarked) => {
        const short = this.cut(text, this.left - 8, size);
        pen.font = `${isMarked ? "bold " : ""}${size}px ${this.font}`;
        pen.fillText(short, this.left - 6, this.top + y);
      },
    );
  }

  // Draws the column labels horizontally if all of them fit.
  // Otherwise, Chinese labels are written downwards, and Latin ones are tilted, or upright if columns are narrow.
  drawColumns() {
    const { pen, data } = this;
    const cell = this.unit / this.ratio;
    const upright = cell < 1.7 * LARGE;
    const size = upright ? SMALL : LARGE;
    const slant = ((upright ? 90 : 40) * Math.PI) / 180;
    pen.textBaseline = "middle";
    this.labels(
      data.columns,
      data.every[1],
      this.x, this.view.wide,
      data.drawn[1],
      size + 3,
      data.chosen?.[1] ?? null,
      (text, middle) => {
        const x = this.left + middle;
        const isWide = WIDE.test(text);
        const fits = this.wide(text, size) <= cell - 2;
        pen.textAlign = "center";
        if (fits && (isWide || this.level)) {
          pen.font = `${size}px ${this.font}`;
          pen.fillText(text, x, this.top - 0.75 * size);
        } else if (isWide) {
          const most = Math.floor((this.top - 4) / size);
          const all = letters(text);
          const down = all.length <= most ? all : [...all.slice(0, most - 1), "…"];
          pen.font = `${size}px ${this.font}`;
          down.reverse().forEach((letter, n) => pen.fillText(letter, x, this.top - (n + 0.75) * size));
        } else {
          const along = Math.min((this.top - 8) / Math.sin(slant), (this.sheet - x - 4) / Math.cos(slant));
          const short = this.cut(text, along, size);
          pen.save();
          pen.translate(x, this.top - 6);
          pen.rotate(-slant);
          pen.textAlign = "left";
          pen.font = `${size}px ${this.font}`;
          pen.fillText(short, 0, 0);
          pen.restore();
        }
      },
    );
  }

  drawRamp() {
    const { pen } = this;
    const x = Math.min(this.left, Math.max(8, this.sheet - RAMP.wide));
    const y = this.top + this.view.tall / this.ratio + 8;
    pen.textBaseline = "middle";
    for (const row of this.data.ramp) {
      if (row.kind === "bar") {
        pen.fillStyle = row.fill;
        pen.fillRect(x + row.x, y + row.y, row.x2 - row.x, row.y2 - row.y);
      } else {
        pen.fillStyle = row.ink;
        pen.font = `${row.size}px ${this.font}`;
        pen.textAlign = row.align;
        pen.fillText(row.text, x + row.x, y + row.y);
      }
    }
  }

  // Draws outlines over the cells: the row of the chosen query, the chosen cell, and the marked row and column.
  drawOver() {
    const { data, unit, ratio } = this;
    const [rows, columns] = data.drawn;
    const pen = penOf(this.over);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.over.width, this.over.height);
    pen.save();
    pen.beginPath();
    const edge = 2 * ratio; // extra margin: the outline of a border cell extends beyond the view
    const [left, top] = [Math.round(this.left * ratio), Math.round(this.top * ratio)];
    pen.rect(left - edge, top - edge, this.view.wide + 2 * edge, this.view.tall + 2 * edge);
    pen.clip();
    pen.translate(left - this.x, top - this.y);
    pen.strokeStyle = data.palette.outline;
    const outline = (row, column, down, across, thick) => {
      pen.lineWidth = thick * ratio;
      // Around cells below 8 px the outline is drawn outside, because its inner half would hide them.
      const out = unit < 8 * ratio ? pen.lineWidth / 2 : 0; // canvas pixels by which the outline is moved outwards
      pen.strokeRect(column * unit - out, row * unit - out, across * unit + 2 * out, down * unit + 2 * out);
    };
    const chosen = this.chosen();
    if (data.query !== null) outline(Math.floor(data.query / data.every[0]), 0, 1, columns, 2.5);
    if (chosen) outline(chosen.row, chosen.column, 1, 1, 2.5);
    if (this.at) {
      outline(this.at.row, 0, 1, columns, 1.5);
      outline(0, this.at.column, rows, 1, 1.5);
      outline(this.at.row, this.at.column, 1, 1, 2.5);
    }
    pen.restore();
  }

  // Writes the line below the map: the marked cell in words, else the selected cell, else a hint how to use the map.
  tell() {
    const { data } = this;
    const cell = this.at ?? (this.places ? null : this.chosen());
    if (!cell) {
      this.say(hintOf(data.words, "hint"));
      return;
    }
    const { n, row, column } = this.place(cell);
    const value = this.numbers[n];
    const state = data.cells[n] === BLOCKED ? data.words.blocked : data.is_bool ? data.words.allowed : "";
    const vanishes = value !== 0 && Math.abs(value) < 0.005; // two decimals would show 0
    const number = data.is_bool ? state : [vanishes ? digits(value) : this.text(n), state].filter(Boolean).join(" ");
    const rounded = !vanishes && Number(value.toPrecision(7)) !== Number(value.toFixed(2)) && Number.isFinite(value);
    const more = rounded ? filled(data.words.digits, { digits: digits(value) }) : "";
    const words = { row: data.rows[row], i: row + 1, column: data.columns[column], j: column + 1, number, more };
    this.say(filled(data.words.cell, words));
  }

  say(text) {
    if (this.read.textContent !== text) this.read.textContent = text;
  }
}
