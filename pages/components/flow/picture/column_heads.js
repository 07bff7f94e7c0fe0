// Draws the symbol and the name above each column of the animated picture.
import { SMALL } from "../layout.js";
import { clamp } from "../motion.js";
import { textWidth } from "../words.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const [UPPER, LOWER] = [31, 10]; // px at unit 1 above the rows: usual height of a symbol, and the height if it is taken

/**
 * Draws the sign and the name of a column; a click on them opens the map of the step in part.opens.
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} share how much of the part is drawn, from 0 to 1
 */
export function drawHead(picture, part, share) {
  const { x, w, headHeight, folded, frame, zoom } = picture.layout;
  const isFolded = folded.has(part.name);
  const middle = x[part.name] + w[part.name] / 2;
  const comes = clamp(share * 4) * (part.is_share ? clamp((picture.stage.motions.share ?? 1) * 4 - 2.4) : 1);
  const lit = picture.isActive(part) ? " lit" : "";
  const height = picture.signHeights.get(part.name);
  if (!height) return;
  const sign = { x: middle, y: headHeight - height * picture.unit, "font-size": signSize(part, folded) * picture.unit };
  const opens = { head: part.opens };
  picture.put(
    "texts", "text", `sign ${part.name}`,
    { ...sign, opacity: comes, class: `sign ${part.family}${lit}`, text: part.sign },
    opens,
  );
  if (isFolded || frame.compact || zoom < SMALL) return; // no room for names
  const name = { x: middle, y: headHeight - 12 * picture.unit, "font-size": 13.5 * picture.unit };
  picture.put(
    "texts", "text", `name ${part.name}`,
    { ...name, opacity: comes, class: `name${lit}`, text: part.label },
    opens,
  );
}

/**
 * The height of the sign of each part above the rows: UPPER if the previous sign there leaves room, else LOWER; null if
 * there is no room at either height.
 * @param {Drawn} picture
 * @returns {Map<string, number | null>}
 */
export function signHeights({ columns, layout: { x, w, folded }, unit }) {
  const ends = { [UPPER]: -Infinity, [LOWER]: -Infinity };
  const heights = new Map();
  for (const part of columns) {
    const half = textWidth(part.sign, signSize(part, folded) * unit, 700) / 2;
    const middle = x[part.name] + w[part.name] / 2;
    const height = [UPPER, LOWER].find((each) => middle - half > ends[each]) ?? null;
    heights.set(part.name, height);
    if (height) ends[height] = middle + half + 2 * unit;
  }
  return heights;
}

const signSize = (part, folded) => (folded.has(part.name) ? 15 : 19);
