// Draws a vector as a strip of cells: frames in the vector's colour, fills by the sign and size of each number.
import { classes } from "../../dom.js";
import { stripOf } from "../layout.js";
import { largestOf } from "../model.js";
import { clamp } from "../motion.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const LOW_ROW = 14; // px at unit 1: height of the cells in a low row
const SLIM = 9; // px: cells below this height have no frame
const NARROW = 4; // px: if cells are narrower, one frame surrounds the whole strip
const FILLS = 20; // number of steps to which the fill opacity of cells without frames is rounded
const FAINT = 0.02; // numbers below this share of the largest number have almost no fill

/**
 * fly: for a strip in motion, (box, column) -> { box, opacity, "stroke-opacity" }, from the final box of a cell.
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} row
 * @param {{ x: number, y: number }} place the left end and the vertical middle of the strip
 * @param {number} opacity
 * @param {{ layer?: string, fly?: ((box: any, m: number) => any) | null }} [options]
 */
export function drawVector(picture, part, row, { x, y }, opacity, { layer = "cells", fly = null } = {}) {
  const numbers = picture.snapshot.numbers[part.name];
  if (part.role !== "lane" && picture.isRest(row)) return;
  const { cell, gap, each, count } = stripOf(picture.snapshot, part, picture.layout);
  const length = numbers.length / (part.role === "lane" ? 1 : picture.rows);
  const height = cellHeight(picture, part, row, cell);
  const isFramed = height >= SLIM && cell < NARROW && !fly;
  const isSlim = height < SLIM && !fly;
  const isTogether = isFramed || isSlim;
  if (isFramed) {
    const frame = { x, y: y - height / 2, width: count * (cell + gap) - gap, height, rx: 2 * picture.unit };
    picture.put(layer, "rect", `frame ${part.name} ${row}`, {
      ...frame, class: `frame ${part.family}`, opacity,
    });
  }
  const places = [];
  for (let i = 0; i < count; i++) {
    const m = largestOf(numbers, row * length + i * each, row * length + Math.min(length, (i + 1) * each));
    const number = numbers[m];
    const strength = clamp(Math.abs(number) / (picture.largest[part.name] || 1));
    places.push(m - row * length);
    if (isSlim && strength < FAINT) continue; // a cell without frame and fill would be invisible
    const column = m - row * length;
    const isOther = part.merges && Math.floor(column / (length / picture.heads)) !== picture.snapshot.look.head;
    const sign = number < 0 ? "minus" : "plus";
    const look = classes("cell", part.family, sign, isOther && !fly && "other", isTogether && "slim",
      picture.given.includes(part.name) && "given");
    const box = { x: x + i * (cell + gap), y: y - height / 2, width: Math.max(0.5, cell), height };
    const fill = Number.isFinite(number) ? (strength < FAINT ? 0.03 : 0.14 + 0.78 * strength) : 0;
    const means = { part: part.name, row, m: column };
    const key = `${part.name} ${row} ${i}`;
    if (isTogether) {
      picture.shapes.note(layer, key, box, means);
      addToLook(picture, look, opacity, fill, box);
      continue;
    }
    const rx = Math.min(3 * picture.unit, cell / 4, height / 4);
    const { box: flown, ...strengths } = fly ? fly(box, column) : { box, opacity };
    picture.put(
      layer, "rect", key,
      { ...flown, rx, ...strengths, class: look, "fill-opacity": Math.round(100 * fill) / 100 },
      means,
    );
  }
  if (isTogether)
    putStrip(picture, part, row, places, { x, y: y - height / 2, width: count * (cell + gap) - gap, height });
}

// Draws an invisible area over a strip that is one path; the pointer's x determines which number it hits.
function putStrip(picture, part, row, places, box) {
  const last = places.length - 1;
  const means = (x) => ({
    part: part.name, row, m: places[Math.max(0, Math.min(last, Math.floor(((x - box.x) / box.width) * places.length)))],
  });
  picture.put("cells", "rect", `strip ${part.name} ${row}`, { ...box, class: "strip" }, means);
}

// Adds a cell without a frame to the path of all cells with the same style.
// The browser draws a path of many cells as fast as a single cell.
function addToLook(picture, look, opacity, fill, { x, y, width, height }) {
  const shown = { look, opacity: Math.round(100 * opacity) / 100, fill: Math.round(FILLS * fill) / FILLS };
  const kind = `${look} ${shown.opacity} ${shown.fill}`;
  if (!picture.looks.has(kind)) picture.looks.set(kind, { ...shown, paths: [] });
  picture.looks
    .get(kind)
    .paths.push(`M${x.toFixed(2)},${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${-width.toFixed(2)}z`);
}

/** @param {Drawn} picture */
export function drawLooks(picture) {
  [...picture.looks.values()].forEach(({ look, opacity, fill, paths }, i) => {
    picture.put("cells", "path", `look ${i}`, { d: paths.join(""), class: look, opacity, "fill-opacity": fill });
  });
}

/**
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} row
 * @param {number} cell the width of a cell
 */
export function cellHeight(picture, part, row, cell) {
  const room = part.role === "lane" ? Infinity : picture.layout.rowHeight[row];
  if (room <= 20) return Math.max(1, Math.min(room - 1.5, LOW_ROW * picture.unit));
  return Math.min(Math.max(cell, 11 * picture.unit) * 1.3, Math.max(room * 0.46, LOW_ROW * picture.unit));
}
