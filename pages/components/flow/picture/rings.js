// Draws rings around the operands of the opened arithmetic of a cell.
// The operand under the pointer, in the arithmetic or in the picture, has a thicker ring.
import { stripOf } from "../layout.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const RING_GAP = 3; // px between a cell and its ring

/**
 * rings: [{ part, row, m, isPointed, told }]; told: the text of the number if it has the focus.
 * @param {Drawn} picture
 * @param {any[]} rings { part, row, m, isPointed, told }
 */
export function drawRings(picture, rings) {
  rings.forEach(({ part, row, m, isPointed, told }, i) => {
    const box = boxOfNumber(picture, part, row, m);
    if (!box) return;
    const ring = {
      x: box.x - RING_GAP, y: box.y - RING_GAP, width: box.width + 2 * RING_GAP, height: box.height + 2 * RING_GAP,
    };
    picture.put("marks", "rect", `ring ${i}`, {
      ...ring, rx: 5 * picture.unit, class: `ring${isPointed ? " pointed" : ""}`,
    });
    if (!told) return;
    const at = {
      x: box.x + box.width / 2, y: ring.y - 11 * picture.unit, "font-size": Math.max(15, 16 * picture.unit),
    };
    picture.put("carriers", "text", "told", { ...at, class: "middle carried", text: told });
  });
}

/**
 * The box of a number in this frame; null if it was not drawn.
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} row
 * @param {number} m index within a vector
 */
export function boxOfNumber(picture, part, row, m) {
  return shapeOfNumber(picture, part, row, m)?.attributes ?? null;
}

/**
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} row
 * @param {number} m index within a vector
 */
export function shapeOfNumber(picture, part, row, m) {
  const { each } = part.role.startsWith("pair")
    ? { each: 1 }
    : stripOf(picture.snapshot, part, picture.layout);
  const vector = `cells ${part.name} ${row} ${Math.floor(m / each)}`;
  const key = part.is_share ? `shares share ${row}` : part.role === "pair" ? `cells ${part.name} ${row}` : vector;
  const shape = picture.shapes.made.get(key);
  return shape?.round === picture.shapes.round ? shape : null;
}
