// Draws the symbol and the name above each column of the animated picture.
import { clamp } from "../motion.js";
import { legible, textWidth } from "../words.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const [UPPER, LOWER] = [31, 10]; // px at unit 1 above the rows: height of a symbol, and its height beside another one
const NAME_PX = 13.5; // font size of names at unit 1

/**
 * Draws the sign and the name of a column; a click on them opens the map of the step in part.opens.
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} share how much of the part is drawn, from 0 to 1
 */
export function drawHead(picture, part, share) {
  const { x, w, headHeight, folded } = picture.layout;
  const middle = x[part.name] + w[part.name] / 2;
  const comes = clamp(share * 4) * (part.is_share ? clamp((picture.stage.motions.share ?? 1) * 4 - 2.4) : 1);
  const lit = picture.isActive(part) ? " lit" : "";
  const head = picture.columnHeads?.get(part.name);
  if (!head?.height) return;
  const signPx = legible(signSize(part, folded) * picture.unit);
  const sign = { x: middle, y: headHeight - head.height * picture.unit, "font-size": signPx };
  const opens = { head: part.opens };
  picture.put(
    "texts", "text", `sign ${part.name}`,
    { ...sign, opacity: comes, class: `sign ${part.family}${lit}`, text: part.sign },
    opens,
  );
  if (!head.isNamed) return;
  const name = { x: middle, y: headHeight - 12 * picture.unit, "font-size": legible(NAME_PX * picture.unit) };
  picture.put(
    "texts", "text", `name ${part.name}`,
    { ...name, opacity: comes, class: `name${lit}`, text: part.label },
    opens,
  );
}

/**
 * What stands above each column: the height of its sign, UPPER if the previous sign there leaves room, else LOWER, or
 * null if there is no room at either height; and whether its name has room below the sign.
 * @param {Drawn} picture
 * @returns {Map<string, { height: number | null, isNamed: boolean }>}
 */
export function headsOf({ columns, layout: { x, w, folded, frame }, unit }) {
  const ends = { [UPPER]: -Infinity, [LOWER]: -Infinity };
  const heads = new Map();
  columns.forEach((part, i) => {
    const middle = x[part.name] + w[part.name] / 2;
    const half = textWidth(part.sign, legible(signSize(part, folded) * unit), 700) / 2;
    const height = [UPPER, LOWER].find((each) => middle - half > ends[each]) ?? null;
    if (height) ends[height] = middle + half + 2 * unit;
    const next = columns[i + 1];
    const nextLeft = next ? x[next.name] + w[next.name] / 2 - textWidth(next.sign, 19 * unit, 700) / 2 : Infinity;
    const named = textWidth(part.label, legible(NAME_PX * unit), 700) / 2;
    const isNamed = height === UPPER && !frame.compact && middle - named > ends[LOWER] && middle + named < nextLeft;
    if (isNamed) ends[LOWER] = middle + named + 2 * unit;
    heads.set(part.name, { height, isNamed });
  });
  return heads;
}

const signSize = (part, folded) => (folded.has(part.name) ? 15 : 19);
