// One large matrix, cell by cell: looked at whole or near, read by hovering or with the arrow keys, opened or painted.
// Everything is drawn again from the data and the view; what is kept from run to run is the view: how near, and where.
// The data: a Raster's fields; palette; words (in, out, whole, window, hint, cell, digits, blocked, allowed); label;
// note, such as "1 : 2"; chosen, a cell's row and column, and query, a row, or null; paint, and with it turn, which
// counts the strokes that were answered, so that a refused one is taken back.
const CELL = 40; // pixels a cell, as everywhere on the screen in CSS pixels: the largest of a map that is shown whole
const READABLE = 26; // from here on the numbers stand in the cells
const NEAREST = 64;
const TALL = 520; // the most that the cells take downwards, so that a projector shows the whole map
const FEW = 4; // rows or columns that can be seen near, also of a long and narrow map
const ZOOM = 1.5;
const SMALL = 13; // the sizes of texts
const LARGE = 16;
const MARGIN = 120; // the most that texts beside rows, and above columns, take
const ROOM = 110;
const OVERHANG = 100; // what tilted texts take beyond the last column
const RAMP = { wide: 260, tall: 40 };
const ALLOWED = 252; // the colour number of a True: 1, the end of a signed scale
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".map");
  root.map ??= new LargeMap(root);
  root.map.show(unpacked(data), setTriggerValue);
}

// ---- texts and numbers ----------------------------------------------------------------------------------------------
const decimals = new Intl.NumberFormat("en", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  roundingMode: "halfEven", // as Python rounds the same number elsewhere on the screen
  useGrouping: false,
  signDisplay: "negative", // no minus before a zero that only rounding made
});

// A true minus sign, and two digits in an exponent, as everywhere on the screen.
function printed(text) {
  return text.replace(/^-/, "−").replace(/e([+-])(\d)$/, "e$10$2");
}

// A number with two decimals, as it stands in a cell.
function fixed(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value < 0 ? "−∞" : "∞";
  return printed(Math.abs(value) < 1e5 ? decimals.format(value) : value.toExponential(2));
}

// The digits that the data carries; all of them are seen where a cell is opened.
function digits(value) {
  return printed(String(Number(value.toPrecision(7))));
}

// A template with its {names} filled in, in one pass: what is filled in is not read again.
function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function letters(text) {
  return Array.from(new Intl.Segmenter().segment(text), (part) => part.segment);
}

function clamped(value, least, most) {
  return Math.max(least, Math.min(most, value));
}

class LargeMap {
  constructor(root) {
    this.root = root;
    this.pointers = new Map(); // the fingers that are down, or the mouse
    this.at = null; // the cell that is read: hovered over, or where the arrow keys have led
    this.tools = this.part("div", "tools");
    this.buttons = ["+", "−", ""].map((text, n) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.onclick = () => (n === 2 ? this.zoom(this.whole) : this.zoom(this.step(n === 0 ? ZOOM : 1 / ZOOM)));
      this.tools.append(button);
      return button;
    });
    this.seen = document.createElement("span");
    this.seen.className = "seen";
    this.tools.append(this.seen);
    this.stage = this.part("div", "stage");
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "application");
    this.base = document.createElement("canvas");
    this.over = document.createElement("canvas");
    this.over.className = "over";
    this.stage.append(this.base, this.over);
    this.read = this.part("p", "read");
    this.read.setAttribute("aria-live", "polite");
    this.listen();
    new ResizeObserver(() => this.data && this.lay()).observe(root);
  }

  part(tag, name) {
    const part = document.createElement(tag);
    part.className = name;
    this.root.append(part);
    return part;
  }

  // ---- what is shown ------------------------------------------------------------------------------------------------
  show(data, trigger) {
    const before = this.data;
    const [rows, columns] = data.drawn;
    const same = before && before.drawn.join() === data.drawn.join() && before.step === data.step;
    this.data = data;
    this.trigger = trigger;
    this.numbers = new Float32Array(data.numbers.buffer, data.numbers.byteOffset, rows * columns);
    this.places = data.places.length
      ? new Int32Array(data.places.buffer, data.places.byteOffset, rows * columns)
      : null;
    this.image = pixels(data.cells, rows, columns, data.fills);
    if (!same) {
      this.unit = null; // looked at whole
      this.at = this.stroke = this.sent = null;
      this.strokes = [];
    }
    this.answered(before);
    this.stage.setAttribute("aria-label", data.label);
    ["in", "out", "whole"].forEach((name, n) => {
      this.buttons[n].title = data.words[name];
      this.buttons[n].setAttribute("aria-label", data.words[name]);
    });
    this.buttons[2].textContent = data.words.whole;
    this.width = null; // the texts may be others
    this.lay();
  }

  // What a cell stands for: itself, or where not all are drawn the one of its block that was picked.
  place({ row, column }) {
    const n = row * this.data.drawn[1] + column;
    const place = this.places ? this.places[n] : n;
    const columns = this.data.shape[1];
    return { n, row: Math.floor(place / columns), column: place % columns };
  }

  // ---- sizes: all of the map itself in device pixels, whole ones a cell, so that all cells are alike ------------------
  lay() {
    const { data } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.floor(this.root.clientWidth);
    if (!width || (width === this.width && ratio === this.ratio)) return;
    const wasWhole = this.unit === null || this.unit === this.whole;
    const near = this.unit === null || !this.ratio ? null : this.unit / this.ratio;
    [this.width, this.ratio] = [width, ratio];
    this.font = getComputedStyle(this.stage).fontFamily;
    this.pen = this.base.getContext("2d");
    const [rows, columns] = data.drawn;
    const widest = (texts, size) => Math.max(...[...new Set(texts)].map((text) => this.wide(text, size)));
    this.left = Math.ceil(Math.min(MARGIN, width / 4, widest(data.rows, LARGE) + 12));
    const wide = width - this.left - 8;
    const fits = Math.floor(Math.min((wide * ratio) / columns, (TALL * ratio) / rows, CELL * ratio));
    this.whole = Math.max(1, fits);
    const cell = this.whole / ratio;
    this.level = widest(data.columns, this.size(cell)) <= cell - 2;
    this.top = this.level ? Math.ceil(1.6 * LARGE) : this.room(data.columns);
    const across = Math.max((columns * this.whole) / ratio, Math.min(columns, FEW) * CELL);
    const down = Math.max((rows * this.whole) / ratio, Math.min(rows, FEW) * CELL);
    this.view = { wide: Math.floor(Math.min(wide, across) * ratio), tall: Math.floor(Math.min(TALL, down) * ratio) };
    this.widest = Math.max(...this.extremes().map((value) => this.wide(fixed(value), 1)), 1);
    this.nearest = Math.round(Math.max(NEAREST, 4 + 12 * this.widest) * ratio);
    this.unit = wasWhole ? this.whole : clamped(Math.round(near * ratio), this.whole, this.nearest);
    if (wasWhole) [this.x, this.y] = [0, 0];
    this.tools.hidden = !data.note && cell >= READABLE && this.fitsWhole();
    const height = this.top + this.view.tall / ratio + (data.ramp.length ? RAMP.tall : 6);
    const right = this.left + this.view.wide / ratio + (this.level ? 8 : OVERHANG);
    this.sheet = Math.ceil(Math.min(width, data.ramp.length ? Math.max(right, this.left + RAMP.wide) : right));
    this.stage.style.width = this.sheet + "px";
    for (const canvas of [this.base, this.over]) {
      canvas.style.width = this.sheet + "px";
      canvas.style.height = height + "px";
      if (canvas.width !== Math.round(this.sheet * ratio)) canvas.width = Math.round(this.sheet * ratio);
      if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    }
    this.draw();
  }

  size(cell) {
    return clamped(cell * 0.8, SMALL, LARGE);
  }

  wide(text, size) {
    this.pen.font = `${16 * size}px ${this.font}`; // measured large: letters of one pixel would be rounded
    return this.pen.measureText(text).width / 16;
  }

  // The height that texts above the columns need: Chinese from top to bottom, Latin ones upwards.
  room(texts) {
    const need = [...new Set(texts)].map((text) =>
      WIDE.test(text) ? letters(text).length * LARGE + 14 : this.wide(text, SMALL) + 16,
    );
    return Math.ceil(Math.min(ROOM, Math.max(1.6 * LARGE, ...need)));
  }

  // The smallest and the largest finite number: one of them is printed widest.
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
  step(factor) {
    const next = Math.round(this.unit * factor);
    const moved = next === this.unit ? this.unit + Math.sign(factor - 1) : next;
    return clamped(moved, this.whole, this.nearest);
  }

  // Another size of the cells; the point (x, y) of the view, in device pixels, stays where it is.
  zoom(unit, x = null, y = null) {
    if (unit === this.unit) return;
    if (x === null) [x, y] = this.middle();
    const factor = unit / this.unit;
    this.unit = unit;
    this.move((this.x + x) * factor - x, (this.y + y) * factor - y);
  }

  // The cell that is read or chosen, if it is seen, else the middle of the view.
  middle() {
    const { wide, tall } = this.view;
    const cell = this.at ?? this.chosen();
    const [x, y] = cell ? [(cell.column + 0.5) * this.unit - this.x, (cell.row + 0.5) * this.unit - this.y] : [-1, -1];
    return x >= 0 && y >= 0 && x <= wide && y <= tall ? [x, y] : [wide / 2, tall / 2];
  }

  // The drawn cell that is opened, or that stands for it.
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
    const inside = (from, cell, length) => clamped(from, (cell + 1) * this.unit - length, cell * this.unit);
    this.move(inside(this.x, column, this.view.wide), inside(this.y, row, this.view.tall));
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------
  draw() {
    const { data, pen, unit, view, ratio } = this;
    const [rows, columns] = data.drawn;
    this.x = Math.round(clamped(this.x, 0, Math.max(0, columns * unit - view.wide)));
    this.y = Math.round(clamped(this.y, 0, Math.max(0, rows * unit - view.tall)));
    const first = { row: Math.floor(this.y / unit), column: Math.floor(this.x / unit) };
    const end = {
      row: Math.min(rows, Math.ceil((this.y + view.tall) / unit)),
      column: Math.min(columns, Math.ceil((this.x + view.wide) / unit)),
    };
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

  // Draws within the view, with its upper left corner as the origin, until pen.restore().
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

  // The numbers of the cells that are seen, all of one size.
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

  // Calls draw(label, middle) for each label along an axis that is seen and has room, in pixels.
  labels(texts, every, from, length, count, room, draw) {
    const cell = this.unit / this.ratio;
    const thinned = Math.max(1, Math.ceil(room / cell));
    for (let n = 0; n < count; n += thinned) {
      const middle = (n + 0.5) * cell - from / this.ratio;
      if (middle >= 0 && middle <= length / this.ratio) draw(texts[n * every], middle);
    }
  }

  drawRows() {
    const { pen, data } = this;
    const size = this.size(this.unit / this.ratio);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    this.labels(data.rows, data.every[0], this.y, this.view.tall, data.drawn[0], size + 4, (text, y) => {
      const short = this.cut(text, this.left - 8, size);
      pen.font = `${size}px ${this.font}`;
      pen.fillText(short, this.left - 6, this.top + y);
    });
  }

  // Level where all fit, else Chinese from top to bottom and Latin tilted, or upright where the columns are narrow.
  drawColumns() {
    const { pen, data } = this;
    const cell = this.unit / this.ratio;
    const upright = cell < 1.7 * LARGE;
    const size = upright ? SMALL : LARGE;
    const slant = ((upright ? 90 : 40) * Math.PI) / 180;
    pen.textBaseline = "middle";
    this.labels(data.columns, data.every[1], this.x, this.view.wide, data.drawn[1], size + 3, (text, middle) => {
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
    });
  }

  drawRamp() {
    const { pen } = this;
    const [x, y] = [Math.min(this.left, Math.max(8, this.sheet - RAMP.wide)), this.top + this.view.tall / this.ratio + 8];
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

  // What lies over the cells: the chosen query's row, the chosen cell, and row and column of the cell that is read.
  drawOver() {
    const { data, unit, ratio } = this;
    const [rows, columns] = data.drawn;
    const pen = this.over.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.over.width, this.over.height);
    pen.save();
    pen.beginPath();
    const edge = 2 * ratio; // an outline of the first or last cells stands outside them
    const [left, top] = [Math.round(this.left * ratio), Math.round(this.top * ratio)];
    pen.rect(left - edge, top - edge, this.view.wide + 2 * edge, this.view.tall + 2 * edge);
    pen.clip();
    pen.translate(left - this.x, top - this.y);
    pen.strokeStyle = data.palette.outline;
    const outline = (row, column, down, across, thick) => {
      pen.lineWidth = thick * ratio;
      const out = unit < 8 * ratio ? pen.lineWidth / 2 : 0; // around small cells, not over them
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

  // The line below: the cell that is read, or else the opened one, in words.
  tell() {
    const { data } = this;
    const cell = this.at ?? (this.places ? null : this.chosen());
    if (!cell) {
      this.say(data.words.hint);
      return;
    }
    const { n, row, column } = this.place(cell);
    const value = this.numbers[n];
    const state = data.cells[n] === BLOCKED ? data.words.blocked : data.is_bool ? data.words.allowed : "";
    const number = data.is_bool ? state : [this.text(n), state].filter(Boolean).join(" ");
    const rounded = Number(value.toPrecision(7)) !== Number(value.toFixed(2)) && Number.isFinite(value);
    const more = rounded ? filled(data.words.digits, { digits: digits(value) }) : "";
    const words = { row: data.rows[row], i: row + 1, column: data.columns[column], j: column + 1, number, more };
    this.say(filled(data.words.cell, words));
  }

  say(text) {
    if (this.read.textContent !== text) this.read.textContent = text;
  }

  // ---- hands --------------------------------------------------------------------------------------------------------
  listen() {
    const { stage } = this;
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.moved(event));
    stage.addEventListener("pointerup", (event) => this.up(event));
    stage.addEventListener("pointercancel", (event) => this.cancelled(event));
    stage.addEventListener("pointerleave", () => this.leave());
    stage.addEventListener("keydown", (event) => this.key(event));
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    const pinched = (event) => event.touches.length > 1 && event.preventDefault(); // two fingers are for the map
    stage.addEventListener("touchmove", pinched, { passive: false });
  }

  // A point of the view, in device pixels.
  point(event) {
    const box = this.base.getBoundingClientRect();
    const { ratio } = this;
    return [
      (event.clientX - box.left) * ratio - Math.round(this.left * ratio),
      (event.clientY - box.top) * ratio - Math.round(this.top * ratio),
    ];
  }

  // The cell under a pointer, null outside the cells.
  under(event) {
    const [x, y] = this.point(event);
    const [row, column] = [Math.floor((y + this.y) / this.unit), Math.floor((x + this.x) / this.unit)];
    const inView = x >= 0 && y >= 0 && x < this.view.wide && y < this.view.tall;
    return inView && row < this.data.drawn[0] && column < this.data.drawn[1] ? { row, column } : null;
  }

  look(at) {
    if (at?.row === this.at?.row && at?.column === this.at?.column) return;
    this.at = at;
    this.drawOver();
    this.tell();
  }

  down(event) {
    if (event.button !== 0) return;
    this.stage.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
    this.armed = true; // from a click on, until the pointer leaves, the wheel zooms
    this.start = event;
    this.dragged = this.pointers.size > 1;
    const cell = this.under(event);
    this.look(cell);
    if (this.pointers.size > 1) this.undo();
    else if (this.data.paint && cell && !event.shiftKey) this.begin(cell);
  }

  moved(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.look(this.under(event));
      return;
    }
    this.pointers.set(event.pointerId, event);
    if (this.pointers.size === 2) this.pinch(event, before);
    else if (this.stroke) this.paintTo(this.under(event));
    else {
      const far = Math.hypot(event.clientX - this.start.clientX, event.clientY - this.start.clientY) > 4;
      this.dragged ||= far;
      if (!this.dragged || this.fitsWhole()) return;
      this.stage.style.cursor = "grabbing";
      const { ratio } = this;
      this.move(
        this.x - (event.clientX - before.clientX) * ratio,
        this.y - (event.clientY - before.clientY) * ratio,
      );
    }
  }

  // Two fingers: as far apart as the cells are near, and the map goes along with them.
  pinch(event, before) {
    const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    const apart = (pointer) => Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY);
    const { ratio } = this;
    this.near = (this.near ?? this.unit) * (apart(event) / (apart(before) || 1));
    const [x, y] = [this.point(event), this.point(other)].reduce(([a, b], [c, d]) => [(a + c) / 2, (b + d) / 2]);
    this.zoom(clamped(Math.round(this.near), this.whole, this.nearest), x, y);
    this.move(
      this.x - ((event.clientX - before.clientX) * ratio) / 2,
      this.y - ((event.clientY - before.clientY) * ratio) / 2,
    );
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    this.near = null;
    const cell = this.under(event);
    if (this.stroke) this.finish();
    else if (!this.dragged && !this.data.paint && cell) this.open(cell);
    if (!this.fitsWhole() && !this.data.paint) this.stage.style.cursor = "grab";
  }

  cancelled(event) {
    this.pointers.delete(event.pointerId);
    this.near = null;
    this.undo();
    this.look(null);
  }

  leave() {
    if (this.pointers.size) return;
    this.armed = false;
    if (!this.stage.matches(":focus-visible")) this.look(null);
  }

  wheel(event) {
    const meant = event.ctrlKey || event.metaKey;
    if (!meant && !this.armed) return; // the wheel is the page's
    this.turned = (Math.sign(this.turned) === Math.sign(event.deltaY) ? this.turned : 0) + event.deltaY;
    const enough = Math.abs(this.turned) >= 30; // a notch of a wheel, some way on a touchpad
    const unit = enough ? this.step(this.turned < 0 ? ZOOM : 1 / ZOOM) : this.unit;
    const further = this.step(event.deltaY < 0 ? ZOOM : 1 / ZOOM) !== this.unit;
    if (meant || further) event.preventDefault(); // at the end of the zoom the page scrolls again
    if (!enough) return;
    this.turned = 0;
    this.zoom(unit, ...this.point(event));
    this.look(this.under(event));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const [rows, columns] = this.data.drawn;
    const walk = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (walk) {
      const from = this.at ?? this.chosen();
      const row = from ? clamped(from.row + walk[0], 0, rows - 1) : this.window.first.row;
      const column = from ? clamped(from.column + walk[1], 0, columns - 1) : this.window.first.column;
      this.look({ row, column });
      this.reveal({ row, column });
    } else if (event.key === "+" || event.key === "=") this.zoom(this.step(ZOOM));
    else if (event.key === "-" || event.key === "−") this.zoom(this.step(1 / ZOOM));
    else if (event.key === "Enter" && this.at && !this.data.paint) this.open(this.at);
    else if (event.key === " " && this.at && this.data.paint) {
      this.begin(this.at);
      this.finish();
    } else return;
    event.preventDefault();
  }

  open(cell) {
    const { row, column } = this.place(cell);
    this.trigger("opened", { step: this.data.step, index: [...this.data.at, row, column].slice(-this.data.axes) });
  }

  // ---- painting: the first cell decides whether cells are set or taken away -------------------------------------------
  begin(cell) {
    const blocked = this.data.cells[cell.row * this.data.drawn[1] + cell.column] === BLOCKED;
    this.stroke = { to: blocked ? 1 : 0, last: cell, cells: [] };
    this.dot(cell, this.stroke.to);
    this.draw();
  }

  // Every cell on the way, however fast the pointer went.
  paintTo(cell) {
    this.look(cell);
    if (!cell) return;
    const { last, to } = this.stroke;
    const [down, across] = [cell.row - last.row, cell.column - last.column];
    const steps = Math.max(Math.abs(down), Math.abs(across));
    for (let n = 1; n <= steps; n++) {
      this.dot({ row: last.row + Math.round((down * n) / steps), column: last.column + Math.round((across * n) / steps) }, to);
    }
    this.stroke.last = cell;
    this.draw();
  }

  dot({ row, column }, to) {
    const { data } = this;
    const n = row * data.drawn[1] + column;
    if ((data.cells[n] !== BLOCKED) === Boolean(to)) return;
    this.stroke.cells.push([row, column]);
    this.set(row, column, to);
  }

  set(row, column, to) {
    const n = row * this.data.drawn[1] + column;
    this.data.cells[n] = to ? ALLOWED : BLOCKED;
    this.numbers[n] = to;
    const pen = this.image.getContext("2d");
    pen.fillStyle = this.data.fills[ALLOWED];
    if (to) pen.fillRect(column, row, 1, 1);
    else pen.clearRect(column, row, 1, 1);
  }

  finish() {
    this.strokes.push(this.stroke);
    this.stroke = null;
    this.send();
  }

  // One stroke at a time: of two that reach the server together it would keep the later one only.
  send() {
    if (this.sent || !this.strokes.length) return;
    this.sent = this.strokes.shift();
    this.trigger("painted", { cells: this.sent.cells, to: this.sent.to });
  }

  // New data: a stroke was taken or refused where `turn` counted on. Those that are still to come are drawn over it.
  answered(before) {
    if (this.data.turn !== before?.turn) this.sent = null;
    for (const stroke of [this.sent, ...this.strokes, this.stroke]) {
      stroke?.cells.forEach(([row, column]) => this.set(row, column, stroke.to));
    }
    this.send();
  }

  // A stroke that became a pinch, or that the browser took: as if it had not begun.
  undo() {
    if (!this.stroke) return;
    const { cells, to } = this.stroke;
    this.stroke = null;
    cells.forEach(([row, column]) => this.set(row, column, 1 - to));
    this.draw();
  }
}
