// Paints the cells of a matrix on a canvas, one pixel per cell, which the browser enlarges.
import { mixed, readable } from "../contrast.js";
import { channelsOf, penOf } from "../pixels.js";
import { clamp, finite } from "./motion.js";

/** @typedef {import("./model.js").Matrix} Matrix */

const LESS = 0.3; // opacity of a cell with share 0, among multiples of the even share
const EVEN_GAP = 1e-6; // a row counts as uniform if its positive attention weights differ by less
const PALEST = 0.08; // opacity of a cell with the number 0; in a difference, 0 is transparent
const POWER = 0.6; // exponent of a difference's opacity; below 1, it makes small differences more visible

/**
 * Paints a matrix, unless its image equals the one before; returns the image. Blocked and hidden cells are transparent.
 * @param {HTMLCanvasElement} canvas
 * @param {Matrix} matrix
 * @param {Record<string, string>} palette
 * @param {ImageData} [old] the image that the canvas shows
 */
export function paintMap(canvas, matrix, palette, old) {
  const { rows, columns } = matrix;
  const image = new ImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    const numbers = matrix.row(row);
    for (let column = 0; column < columns; column++) {
      if (matrix.isBlocked(row, column) || matrix.isHidden?.(row, column)) continue;
      const number = finite(numbers[column]);
      const channels = channelsOf(colourOf(matrix, number, palette));
      image.data.set([...channels, 255 * strengthOf(matrix, number)], 4 * (row * columns + column));
    }
  }
  const isSame = old?.width === columns && old.height === rows && old.data.every((byte, i) => byte === image.data[i]);
  if (isSame) return old; // a canvas that is painted again makes the browser redraw
  Object.assign(canvas, { width: columns, height: rows });
  penOf(canvas).putImageData(image, 0, 0);
  return image;
}

/** The opacity of a cell. @type {(matrix: Pick<Matrix, "kind" | "largest">, number: number) => number} */
export function strengthOf({ kind, largest }, number) {
  if (kind === "times") return strengthOfTimes(number, largest);
  const share = Math.abs(number) / (largest || 1);
  if (kind === "difference" || kind === "change") return clamp(share ** POWER);
  return clamp(PALEST + (1 - PALEST) * share);
}

/**
 * Whether a number is more legible in its cell in the background colour than in the colour of text.
 * @param {Matrix} matrix
 * @param {number} number
 * @param {Record<string, string>} palette
 */
export function isOnStrongColour(matrix, number, palette) {
  const cell = mixed(colourOf(matrix, number, palette), palette.ground, strengthOf(matrix, number));
  return readable(cell, [palette.ground, palette.ink]) === palette.ground;
}

// Returns the opacity of a multiple of the even share: lowest at 1, and higher with each doubling.
function strengthOfTimes(number, largest) {
  if (number < 1) return LESS * (1 - number);
  return clamp(PALEST + ((1 - PALEST) * Math.log2(number)) / Math.log2(Math.max(2, largest)));
}

// Returns the colour of a number: weights have one colour, other numbers one for each sign.
function colourOf({ kind }, number, palette) {
  if (kind === "mark") return palette.x;
  if (kind === "share") return palette.share;
  if (kind === "times") return number < 1 ? palette.x : palette.share;
  if (kind === "difference") return number < 0 ? palette.k : palette.share;
  return number < 0 ? palette.minus : palette.plus;
}

/** Whether all positive attention weights of a row are equal. @param {Iterable<number>} shares */
export function isEvenRow(shares) {
  let [least, most] = [Infinity, 0];
  for (const share of shares) {
    if (share > 0) least = Math.min(least, share);
    most = Math.max(most, share);
  }
  return most - least < EVEN_GAP;
}

