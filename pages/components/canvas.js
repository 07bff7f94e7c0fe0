// Draws one large matrix as a map of cells, which can be zoomed, read with the pointer or arrow keys, and painted.
// The data determine the whole drawing; only the zoom and the scroll position are kept in the browser.
import { followPointer, MOVES } from "./drag.js";
import { clamp } from "./flow/motion.js";
import { followSlider } from "./live/position.js";
import { BLOCKED, penOf, unpacked } from "./pixels.js";
import { hear, tellOthers } from "./shared.js";
import { Sheet } from "./sheet.js";

/**
 * @typedef {object} MapData the fields of a Raster (attention_core/drawing/raster.py) and these
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} words in, out, whole, window, hint, hint_touch, cell, digits, blocked, allowed
 * @property {string} label
 * @property {string} note such as "1 : 2"
 * @property {number[] | null} chosen the row and column of the opened cell
 * @property {number | null} query the row of the selected query
 * @property {number} least the smallest magnitude that is written into its cell
 * @property {boolean} paint
 * @property {number} [turn] the number of strokes that the server has answered; a refused stroke is undone
 * @property {string} [linked] a name shared by maps in which the same cell is hovered
 */

const ALLOWED = 252; // palette index of an allowed cell: the last index of the colour scale

/** @param {import("./shared.js").Component<Uint8Array>} component data: a packed MapData */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".map");
  const map = (root.map ??= new LargeMap(root));
  const plain = unpacked(data);
  map.show(plain, setTriggerValue);
  if (plain.follows) followSlider(root, plain.follows, (position) => { // the map is pale until the data arrive
    root.style.opacity = position === plain.follows.position ? 1 : 0.35;
  });
  const ends = [hear("looked", (looked) => map.lookAlong(looked))];
  // Draws the map pale while the animated picture waits for these numbers from the server.
  if (!plain.follows) ends.push(hear("flow-waits", (waits) => (root.style.opacity = waits ? 0.35 : 1)));
  return () => ends.forEach((end) => end());
}

/** @typedef {{ to: 0 | 1, last: Cell, cells: number[][] }} Stroke cells that are allowed (1) or blocked (0) */
/** @typedef {import("./sheet.js").Cell} Cell */

class LargeMap extends Sheet {
  constructor(root) {
    super(root);
    this.pointers = new Map(); // pointer id -> last event, for each pressed finger or mouse button
    this.turned = 0; // how far the wheel has turned since the last zoom
    /** @type {Stroke | null} */
    this.stroke = null; // the cells painted in the current stroke of the pointer
    /** @type {Stroke | null} */
    this.sent = null; // the painted stroke that the server has not answered yet
    /** @type {Stroke[]} */
    this.strokes = []; // painted strokes that are not sent yet
    this.listen();
  }

  show(data, trigger) {
    const turn = this.data?.turn;
    this.trigger = trigger;
    if (!this.take(data)) {
      this.stroke = this.sent = null;
      this.strokes = [];
    }
    this.answered(turn);
    this.present();
  }

  // ---- pointers and keys --------------------------------------------------------------------------------------------
  listen() {
    const { stage } = this;
    stage.addEventListener("pointerdown", (event) => this.down(event));
    const hover = (event) => this.pointers.has(event.pointerId) || this.look(this.under(event));
    stage.addEventListener("pointermove", hover);
    stage.addEventListener("pointerleave", () => this.leave());
    stage.addEventListener("keydown", (event) => this.key(event));
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    const pinched = (event) => event.touches.length > 1 && event.preventDefault(); // two fingers zoom only the map
    stage.addEventListener("touchmove", pinched, { passive: false });
  }

  // Returns the position of a pointer in the view, [x, y] in device pixels.
  point(event) {
    const box = this.base.getBoundingClientRect();
    const { ratio } = this;
    return [
      (event.clientX - box.left) * ratio - Math.round(this.left * ratio),
      (event.clientY - box.top) * ratio - Math.round(this.top * ratio),
    ];
  }

  // Returns the cell { row, column } under a pointer; null if the pointer is outside the cells.
  under(event) {
    const [x, y] = this.point(event);
    const [row, column] = [Math.floor((y + this.y) / this.unit), Math.floor((x + this.x) / this.unit)];
    const inView = x >= 0 && y >= 0 && x < this.view.wide && y < this.view.tall;
    return inView && row < this.data.drawn[0] && column < this.data.drawn[1] ? { row, column } : null;
  }

  /**
   * Marks a cell.
   * @param {Cell | null} at
   * @param {boolean} [alone] whether only in this map, not in linked maps
   */
  look(at, alone = false) {
    if (!this.mark(at)) return;
    this.drawOver();
    this.read.setAttribute("aria-live", alone ? "off" : "polite"); // only one of several linked maps is read aloud
    this.tell();
    const { linked } = this.data;
    if (linked && !alone) tellOthers("looked", { linked, at, map: this });
  }

  // Marks the cell that the pointer hovers in another map with the same `linked` name.
  lookAlong({ linked, at, map }) {
    if (map !== this && linked === this.data.linked) this.look(at, true);
  }

  down(event) {
    if (event.button !== 0) return;
    followPointer(this.stage, event, {
      move: (moved) => this.moved(moved),
      release: (released) => this.up(released),
      cancel: (cancelled) => this.cancelled(cancelled),
      together: true,
    });
    this.pointers.set(event.pointerId, event);
    this.armed = true; // true from a click until the pointer leaves: the wheel then zooms instead of scrolling
    this.start = event;
    this.dragged = this.pointers.size > 1;
    const cell = this.under(event);
    this.look(cell);
    if (this.pointers.size > 1) this.undo();
    else if (this.data.paint && cell && !event.shiftKey) this.begin(cell);
  }

  moved(event) {
    const before = this.pointers.get(event.pointerId);
    this.pointers.set(event.pointerId, event);
    if (this.pointers.size === 2) this.pinch(event, before);
    else if (this.stroke) this.paintTo(this.under(event));
    else {
      const far = Math.hypot(event.clientX - this.start.clientX, event.clientY - this.start.clientY) > 4;
      this.dragged ||= far;
      if (!this.dragged || this.fitsWhole()) return;
      this.stage.style.cursor = "grabbing";
      const { ratio } = this;
      this.move(this.x - (event.clientX - before.clientX) * ratio, this.y - (event.clientY - before.clientY) * ratio);
    }
  }

  // Zooms by the change of the distance between two fingers, and moves the map with the middle of both fingers.
  pinch(event, before) {
    const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    const apart = (pointer) => Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY);
    const { ratio } = this;
    this.near = (this.near ?? this.unit) * (apart(event) / (apart(before) || 1));
    const [x, y] = [this.point(event), this.point(other)].reduce(([a, b], [c, d]) => [(a + c) / 2, (b + d) / 2]);
    this.zoom(clamp(Math.round(this.near), this.whole, this.nearest), [x, y]);
    this.move(
      this.x - ((event.clientX - before.clientX) * ratio) / 2,
      this.y - ((event.clientY - before.clientY) * ratio) / 2,
    );
  }

  up(event) {
    this.pointers.delete(event.pointerId);
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
    if (!meant && !this.armed) return; // the wheel scrolls the page, not the map
    this.turned = (Math.sign(this.turned) === Math.sign(event.deltaY) ? this.turned : 0) + event.deltaY;
    const enough = Math.abs(this.turned) >= 30; // px: one notch of a mouse wheel, or a short touchpad movement
    const unit = enough ? this.nearer(this.turned < 0 ? 1 : -1) : this.unit;
    const further = this.nearer(event.deltaY < 0 ? 1 : -1) !== this.unit;
    if (meant || further) event.preventDefault(); // at the end of the zoom range, the wheel scrolls the page again
    if (!enough) return;
    this.turned = 0;
    this.zoom(unit, this.point(event));
    this.look(this.under(event));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const [rows, columns] = this.data.drawn;
    const walk = MOVES[event.key];
    if (walk) {
      const from = this.at ?? this.chosen();
      const row = from ? clamp(from.row + walk[0], 0, rows - 1) : this.window.first.row;
      const column = from ? clamp(from.column + walk[1], 0, columns - 1) : this.window.first.column;
      this.look({ row, column });
      this.reveal({ row, column });
    } else if (event.key === "+" || event.key === "=") this.zoom(this.nearer(1));
    else if (event.key === "-" || event.key === "−") this.zoom(this.nearer(-1));
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

  // ---- painting: the first cell decides whether a stroke allows or blocks cells -------------------------------------
  begin(cell) {
    const blocked = this.data.cells[cell.row * this.data.drawn[1] + cell.column] === BLOCKED;
    this.stroke = { to: blocked ? 1 : 0, last: cell, cells: [] };
    this.dot(cell, this.stroke);
    this.draw();
  }

  // Paints the cells from the last position of the pointer to the current position.
  paintTo(cell) {
    this.look(cell);
    const { stroke } = this;
    if (!cell || !stroke) return;
    const { last } = stroke;
    const [down, across] = [cell.row - last.row, cell.column - last.column];
    const steps = Math.max(Math.abs(down), Math.abs(across));
    for (let n = 1; n <= steps; n++) {
      const [rows, columns] = [down, across].map((way) => Math.round((way * n) / steps));
      this.dot({ row: last.row + rows, column: last.column + columns }, stroke);
    }
    stroke.last = cell;
    this.draw();
  }

  dot({ row, column }, { to, cells }) {
    const { data } = this;
    const n = row * data.drawn[1] + column;
    if ((data.cells[n] !== BLOCKED) === Boolean(to)) return;
    cells.push([row, column]);
    this.set(row, column, to);
  }

  set(row, column, to) {
    const n = row * this.data.drawn[1] + column;
    this.data.cells[n] = to ? ALLOWED : BLOCKED;
    this.numbers[n] = to;
    const pen = penOf(this.image);
    pen.fillStyle = this.data.fills[ALLOWED];
    if (to) pen.fillRect(column, row, 1, 1);
    else pen.clearRect(column, row, 1, 1);
  }

  finish() {
    if (this.stroke) this.strokes.push(this.stroke);
    this.stroke = null;
    this.send();
  }

  // Sends one stroke at a time: if two arrive together, the server keeps only the later one.
  send() {
    if (this.sent) return;
    this.sent = this.strokes.shift() ?? null;
    if (this.sent) this.trigger("painted", { cells: this.sent.cells, to: this.sent.to });
  }

  // Compares new data with the sent stroke: if `turn` has changed, the server has applied or refused the stroke.
  // Strokes of the visitor that the server has not answered are drawn again over the new data.
  answered(turn) {
    if (this.data.turn !== turn) this.sent = null;
    for (const stroke of [this.sent, ...this.strokes, this.stroke]) {
      stroke?.cells.forEach(([row, column]) => this.set(row, column, stroke.to));
    }
    this.send();
  }

  // Undoes a stroke that turned into a pinch gesture, or that the browser cancelled.
  undo() {
    if (!this.stroke) return;
    const { cells, to } = this.stroke;
    this.stroke = null;
    cells.forEach(([row, column]) => this.set(row, column, 1 - to));
    this.draw();
  }
}
