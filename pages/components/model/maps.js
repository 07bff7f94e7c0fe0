// Draws the weights of a head on a canvas with one pixel per cell, which the browser enlarges; shows cells' numbers.
import { element } from "../dom.js";
import { MOVES } from "../drag.js";
import { paintMap } from "../flow/map_cells.js";
import { clamp } from "../flow/motion.js";

/**
 * The weights of a head, or a difference of two, as a matrix to draw.
 * @param {Float32Array} numbers
 * @param {object} map
 * @param {number} map.rows
 * @param {number} map.columns
 * @param {number} map.reach the number with the full colour
 * @param {string} [map.kind] how the numbers are coloured, as of a Matrix
 * @param {ArrayLike<number>} [map.allowed] whether each cell is allowed; empty if all are
 * @param {ArrayLike<number>} [map.hidden] whether each cell is hidden; empty if none is
 * @returns {import("../flow/model.js").Matrix}
 */
export function matrixOf(numbers, { rows, columns, reach, kind = "share", allowed = [], hidden = [] }) {
  return {
    rows, columns, kind, largest: reach, value: numbers, first: 0, step: "weights",
    row: (i) => numbers.subarray(i * columns, (i + 1) * columns),
    isBlocked: (i, j) => allowed.length > 0 && !allowed[i * columns + j],
    isHidden: (i, j) => Boolean(hidden[i * columns + j]),
  };
}

/**
 * Returns a canvas with one pixel per number, which the browser enlarges.
 * @param {import("../flow/model.js").Matrix} matrix
 * @param {Record<string, string>} palette
 */
export function mapImage(matrix, palette) {
  const canvas = element("canvas", "map");
  paintMap(canvas, matrix, palette);
  return canvas;
}

/**
 * Lets the pointer and the arrow keys read the cells of a map.
 * @param {HTMLElement} frame the element of the size of the map
 * @param {object} map
 * @param {number} map.rows
 * @param {number} map.columns
 * @param {() => number[]} map.at the row and column of the cell that was read last
 * @param {(row: number, column: number) => void} map.tell reads a cell
 * @param {() => void} [map.act] what a click on a cell, Enter or Space does
 */
export function readCells(frame, { rows, columns, at, tell, act }) {
  const read = (row, column) => tell(clamp(row, 0, rows - 1), clamp(column, 0, columns - 1));
  const readUnder = ({ clientX, clientY }) => {
    const { left, top, width, height } = frame.getBoundingClientRect();
    read(Math.floor(((clientY - top) / height) * rows), Math.floor(((clientX - left) / width) * columns));
  };
  frame.onpointermove = readUnder;
  frame.onkeydown = (event) => {
    const move = MOVES[event.key];
    if (move) read(at()[0] + move[0], at()[1] + move[1]);
    else if (act && (event.key === "Enter" || event.key === " ")) act();
    else return;
    event.preventDefault();
  };
  if (!act) return;
  frame.onclick = (event) => {
    readUnder(event);
    act();
  };
}
