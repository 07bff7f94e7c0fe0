// Draws the map of a head: cells on a canvas and, over them, words, numbers, the selected row and blocked cells.
import { added, addedShape, setAttributes } from "../dom.js";
import { WIDE } from "../printed.js";
import { cellSize } from "./heads_layout.js";
import { isEvenRow, isOnStrongColour, paintMap } from "./map_cells.js";
import { Shapes } from "./shapes.js";
import { LEAST_SHARE, LEAST_TIMES } from "./model.js";
import { shortened, spellNumber, textWidth } from "./words.js";

/** @typedef {import("./model.js").Matrix} Matrix */

const WORD = 13; // px: font size of the words
const WORDED_CELL = 13; // px: the words are shown only beside cells of at least this size
const LONGEST_WORD = 110; // px
const TILT = -52; // degrees by which words above the columns are turned if they are wider than a column
const NUMBERED_CELL = 20; // px: smaller cells have no number
const SEPARATE_CELL = 5; // px: smaller cells have no gap between them
const TOLD_TIMES = 0.95; // smaller multiples of the even share, and their differences, are not printed in their cells
const TOLD_SHARE = 0.095; // smaller weights are not printed in their cells, unless a map has another limit
const DIFFERENCES = ["change", "difference"]; // kinds of maps whose numbers have a sign and are printed from 1 point on

export class HeadMap {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    root.classList.add("headmap");
    /** @type {HTMLCanvasElement} */
    this.canvas = added(root, "canvas");
    this.svg = addedShape(root, "svg", { "aria-hidden": "true" });
    this.shapes = new Shapes(this.svg, ["lines", "frames", "texts"]);
  }

  /**
   * Draws the map.
   * @param {object} view
   * @param {Matrix} view.matrix
   * @param {Record<string, string>} view.palette
   * @param {number} view.width the room for the map and its words, in px
   * @param {number} view.height
   * @param {{ start: number, size: number } | null} view.row the row to frame, as shares of the height
   * @param {{ rows: string[], columns: string[] } | null} view.words null for a map without words
   */
  draw({ matrix, palette, width, height, row, words }) {
    const place = this.place(matrix, width, height, words);
    const { left, top, cell, inner, outer } = place;
    this.box = { left, top, width: inner.width, height: inner.height };
    this.image = paintMap(this.canvas, matrix, palette, this.image);
    this.canvas.style.cssText = `left: ${left}px; top: ${top}px; width: ${inner.width}px; height: ${inner.height}px`;
    // rows lower than a pixel must be smoothed, else they would be missing
    this.canvas.style.imageRendering = cell.tall < 1 ? "auto" : "pixelated";
    this.root.style.cssText = `width: ${outer.width}px; height: ${outer.height}px`;
    setAttributes(this.svg, { ...outer, viewBox: `0 0 ${outer.width} ${outer.height}` });
    this.shapes.begin();
    this.drawLines(matrix, place);
    if (row) this.frameRow(row, place);
    if (words && place.hasWords) this.drawWords(words, place, row ? Math.round(row.start * matrix.rows) : null);
    if (cell.tall >= NUMBERED_CELL && matrix.step) this.drawNumbers(matrix, palette, place);
    this.shapes.end();
  }

  // Returns the size of a cell, and the left and upper edge of the cells, beside and below the words.
  place(matrix, width, height, words) {
    if (words) {
      const longest = (names) => Math.min(LONGEST_WORD, Math.max(...names.map((name) => textWidth(name, WORD))));
      const left = Math.ceil(longest(words.rows)) + 8;
      const across = longest(words.columns);
      const flat = cellSize(matrix, width - left, height - WORD - 8);
      const isTilted = across > flat.wide - 2;
      const tilted = [Math.ceil(across * 0.79) + 14, Math.ceil(across * 0.5)];
      const upright = [Math.ceil(across) + 12, 0];
      const [top, right] = !isTilted ? [WORD + 8, 0] : areUpright(words.columns) ? upright : tilted;
      const cell = isTilted ? cellSize(matrix, width - left - right, height - top) : flat;
      if (cell.tall >= WORDED_CELL) return { ...placed(matrix, cell, left, top, right), isTilted, hasWords: true };
    }
    return placed(matrix, cellSize(matrix, width, height), 0, 0, 0);
  }

  frameRow({ start, size }, { left, top, inner }) {
    const [y, height] = [top + start * inner.height, Math.max(size * inner.height, 3)];
    this.shapes.put("frames", "rect", "row", { x: left, y, width: inner.width, height, rx: 2, class: "asks" });
  }

  // Draws the gaps between the cells, and a diagonal line through each blocked cell.
  drawLines(matrix, { left, top, cell: { wide, tall }, inner }) {
    if (tall < SEPARATE_CELL) return;
    const gaps = [];
    const { rows, columns } = matrix;
    for (let column = 1; column < columns; column++) gaps.push(`M${left + column * wide} ${top}v${inner.height}`);
    for (let row = 1; row < rows; row++) gaps.push(`M${left} ${top + row * tall}h${inner.width}`);
    const look = { class: "gaps", "stroke-width": tall < 10 ? 0.5 : 1 };
    this.shapes.put("lines", "path", "gaps", { ...look, d: gaps.join("") });
    const blocked = [];
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++)
        if (matrix.isBlocked(row, column))
          blocked.push(`M${left + column * wide + 2} ${top + (row + 1) * tall - 2}l${wide - 4} ${4 - tall}`);
    if (blocked.length) this.shapes.put("lines", "path", "blocked", { class: "shutline", d: blocked.join("") });
  }

  drawWords({ rows, columns }, { left, top, cell, isTilted }, looked) {
    rows.forEach((word, row) =>
      this.shapes.put("texts", "text", `row ${row}`, {
        x: left - 6, y: top + (row + 0.5) * cell.tall + 1, "font-size": WORD, text: shortened(word, LONGEST_WORD, WORD),
        class: `end mapword${row === looked ? " asking" : ""}`,
      }),
    );
    const how = !isTilted ? "flat" : areUpright(columns) ? "upright" : "tilted";
    columns.forEach((word, column) => {
      const [x, y] = [left + (column + 0.5) * cell.wide, top - 8];
      const text = { "font-size": WORD, text: shortened(word, LONGEST_WORD, WORD) };
      const look = {
        upright: { x, y: top - 6, class: "end mapword upright" },
        tilted: { transform: `translate(${x + 1} ${y + 2}) rotate(${TILT})`, class: "mapword aside" },
        flat: { x, y: y - 2, class: "middle mapword aside" },
      };
      this.shapes.put("texts", "text", `${how} column ${column}`, { ...text, ...look[how] });
    });
  }

  drawNumbers(matrix, palette, { left, top, cell: { wide, tall } }) {
    const { kind, largest } = matrix;
    const size = Math.min(13, Math.max(11, tall * 0.46));
    for (let row = 0; row < matrix.rows; row++) {
      const numbers = matrix.row(row);
      if (kind === "share" && isEvenRow(numbers)) continue;
      if (kind === "times" && isEvenRow(numbers.map((number) => number / largest))) continue;
      for (let column = 0; column < matrix.columns; column++) {
        const number = numbers[column];
        const isTold = Math.abs(number) >= leastTold(matrix);
        if (!isTold || matrix.isBlocked(row, column) || matrix.isHidden?.(row, column)) continue;
        const text = spellCell(number, matrix);
        if (textWidth(text, size, 600) > wide - 2) continue;
        this.shapes.put("texts", "text", `number ${row} ${column}`, {
          x: left + (column + 0.5) * wide, y: top + (row + 0.5) * tall + 1, "font-size": size, text,
          class: `middle mapnumber${isOnStrongColour(matrix, number, palette) ? " inside" : ""}`,
        });
      }
    }
  }
}

// Chinese words that are too wide for a column are written downwards, one character below the other, not turned.
// Words beside such words are written downwards, too, because turned words would overlap them.
const areUpright = (words) => words.some((word) => WIDE.test(word));

function placed({ rows, columns }, cell, left, top, right) {
  const inner = { width: columns * cell.wide, height: rows * cell.tall };
  return {
    cell, left, top, inner,
    outer: { width: left + inner.width + right, height: top + inner.height },
    isTilted: false, hasWords: false,
  };
}

// Returns the smallest absolute value that is printed in a cell; in a difference, the smallest that is not "+0".
function leastTold({ kind, isTimes, least = TOLD_SHARE }) {
  if (DIFFERENCES.includes(kind)) return isTimes ? LEAST_TIMES : LEAST_SHARE;
  return kind === "times" || isTimes ? TOLD_TIMES : least;
}

// Returns a number as printed in its cell: shares in hundredths, multiples of the even share with one decimal.
// In a difference every number has its sign: +6 for 0.06, −5 for −0.05.
function spellCell(number, { kind, isTimes }) {
  if (kind === "signed") return spellNumber(number);
  const sign = number < 0 ? "−" : DIFFERENCES.includes(kind) ? "+" : "";
  return sign + (kind === "times" || isTimes ? Math.abs(number).toFixed(1) : Math.round(100 * Math.abs(number)));
}
