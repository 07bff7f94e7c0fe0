// Draws the weights of a head as an image with one pixel per cell, which the browser enlarges.
import { element } from "../dom.js";
import { MOVES } from "../drag.js";
import { clamp } from "../flow/motion.js";
import { BLOCKED, pixels } from "../pixels.js";

export const LEVELS = 253; // the number of colours in a scale; the palette index 255 stands for a blocked cell

/**
 * Draws numbers as an image with one pixel per number, which the browser enlarges.
 * @param {ArrayLike<number>} numbers
 * @param {object} map
 * @param {number} map.rows
 * @param {number} map.columns
 * @param {number} map.reach the number with the full colour
 * @param {Record<string, string[]>} map.fills the colours of each scale
 * @param {'share' | 'signed'} [map.scale] from 0 to reach, or from -reach to reach
 * @param {ArrayLike<number>} [map.allowed] whether each cell is allowed; empty if all are
 */
export function mapImage(numbers, { rows, columns, reach, fills, scale = "share", allowed = [] }) {
  const height = (number) => (scale === "share" ? number / reach : (number / reach + 1) / 2);
  const codes = Uint8Array.from(numbers, (number, i) => {
    if (allowed.length && !allowed[i]) return BLOCKED;
    return Math.round(Math.min(1, Math.max(0, height(number))) * (LEVELS - 1));
  });
  return element("img", "map", {
    alt: "", draggable: false, src: pixels(codes, rows, columns, fills[scale]).toDataURL(),
  });
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
