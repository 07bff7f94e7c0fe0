// The sign and the name over each column.
import { SMALL } from "../layout.js";
import { clamp } from "../motion.js";
import { textWidth } from "../words.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const [UPPER, LOWER] = [31, 10]; // how far over the rows a sign stands; lower where the one before leaves no room

/**
 * Over a column: its sign and its name, which open the step, or the product that it comes of.
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} share how far the part has come
 */
export function drawHead(picture, part, share) {
  const { x, w, headHeight, folded, frame, zoom } = picture.layout;
  const isFolded = folded.has(part.name);
  const middle = x[part.name] + w[part.name] / 2;
  const comes = clamp(share * 4) * (part.is_share ? clamp((picture.stage.motions.share ?? 1) * 4 - 2.4) : 1);
  const lit = picture.isActive(part) ? " lit" : "";
  const height = picture.signHeights.get(part.name);
  if (height === null) return;
  const sign = { x: middle, y: headHeight - height * picture.unit, "font-size": signSize(part, folded) * picture.unit };
  const opens = { head: part.opens };
  picture.shapes.put(
    "texts", "text", `sign ${part.name}`,
    { ...sign, opacity: comes, class: `sign ${part.family}${lit}`, text: part.sign },
    opens,
  );
  if (isFolded || frame.compact || zoom < SMALL) return; // no room for names
  const name = { x: middle, y: headHeight - 12 * picture.unit, "font-size": 13.5 * picture.unit };
  picture.shapes.put(
    "texts", "text", `name ${part.name}`,
    { ...name, opacity: comes, class: `name${lit}`, text: part.label },
    opens,
  );
}

// How far over the rows each column's sign stands: above, where the one before it leaves room; else lower; null where
// there is no room at all.
export function signHeights({ columns, layout: { x, w, folded }, unit }) {
  const ends = new Map([[UPPER, -Infinity], [LOWER, -Infinity]]);
  const heights = new Map();
  for (const part of columns) {
    const half = textWidth(part.sign, signSize(part, folded) * unit, 700) / 2;
    const middle = x[part.name] + w[part.name] / 2;
    const height = [UPPER, LOWER].find((each) => middle - half > ends.get(each)) ?? null;
    heights.set(part.name, height);
    if (height) ends.set(height, middle + half + 2 * unit);
  }
  return heights;
}

const signSize = (part, folded) => (folded.has(part.name) ? 15 : 19);
