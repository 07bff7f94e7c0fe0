// Animates the dot products: the query vector moves down past the keys, and each result drops into its column.
import { stripOf } from "../layout.js";
import { largestOf } from "../model.js";
import { between, clamp, easeInOut, easeOut } from "../motion.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

/**
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} share how much of the part is drawn, from 0 to 1
 */
export function drawMeeting(picture, part, share) {
  const read = part.reads.map((name) => picture.byName.get(name));
  const query = read.find((other) => other?.role === "lane");
  const keys = read.find((other) => other?.role === "row");
  if (!query || !keys || !picture.has(query.name) || !picture.has(keys.name)) return;
  const { x, w, rowY, rowHeight, laneY } = picture.layout;
  const count = clamp((share - 0.12) / 0.88) * (picture.rows + 1); // number of keys that the query vector has passed
  const along = clamp(count - 0.5, 0, picture.rows - 1);
  const row = Math.floor(along);
  const onKey = between(rowY[row], rowY[Math.min(row + 1, picture.rows - 1)], easeInOut(along - row));
  const y = between(laneY, onKey, easeInOut(clamp(share / 0.13)));
  const { cell } = stripOf(picture.snapshot, keys, picture.layout);
  const height = Math.min(Math.max(cell, 9 * picture.unit) * 1.3, rowHeight[row] * 0.46);
  const above = height + 3 * picture.unit;
  const lens = {
    x: x[keys.name] - 6 * picture.unit, y: y - height / 2 - above - 5 * picture.unit,
    width: w[keys.name] + 12 * picture.unit,
  };
  picture.put("marks", "rect", "lens", {
    ...lens, height: height + above + 10 * picture.unit, rx: 8 * picture.unit, class: "lens",
  });
  drawGlide(picture, query, x[keys.name], y - above, w[keys.name], height);
  if (count <= 0 || count >= picture.rows) return;
  const drop = clamp((count - 0.25) % 1);
  const start = x[keys.name] + w[keys.name] + 6 * picture.unit;
  const end = x[part.name] + (part.role === "pair" ? w[part.name] / 2 : 0);
  const dot = {
    cx: between(start, end, easeOut(drop)), cy: rowY[Math.min(picture.rows - 1, Math.floor(count))],
    r: 5 * picture.unit,
  };
  picture.put("marks", "circle", "drop", { ...dot, class: "drop", opacity: 1 - 0.4 * drop });
}

// Draws the cells of the moving query above those of a key, so that the numbers to multiply are above each other.
function drawGlide(picture, query, x, y, width, height) {
  const numbers = picture.snapshot.numbers[query.name];
  const { gap, each, count } = stripOf(picture.snapshot, query, picture.layout);
  const step = (width + gap) / count;
  for (let i = 0; i < count; i++) {
    const number = numbers[largestOf(numbers, i * each, Math.min(numbers.length, (i + 1) * each))];
    const strength = clamp(Math.abs(number) / (picture.largest[query.name] || 1));
    const box = {
      x: x + i * step, y: y - height / 2, width: Math.max(0.5, step - gap), height,
      rx: Math.min(3 * picture.unit, height / 4),
    };
    const look = `cell q ${number < 0 ? "minus" : "plus"}`;
    picture.put("marks", "rect", `glide ${i}`, { ...box, class: look, "fill-opacity": 0.14 + 0.78 * strength });
  }
}
