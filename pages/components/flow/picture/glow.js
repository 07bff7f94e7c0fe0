// Outlines the rows of changed numbers for a moment, and shows the old number beside each where space is free.
import { fixed } from "../../rounded.js";
import { easeOut } from "../motion.js";
import { boxesOverlap } from "../plane.js";
import { spellPercent, textWidth } from "../words.js";
import { TELLING_SHARE } from "./ribbons.js";
import { boxOfNumber } from "./rings.js";

/** @typedef {import("./picture.js").Drawn} Drawn */

const LEAST_GLOW_ROW = 12; // px: rows that are lower get neither an outline nor an old number
const OLD_PX = { share: 16, other: 13, least: 12 }; // px: font sizes of old weights and of other numbers; least size
const [OLD_WEIGHT, OLD_LINE] = [600, 1.25]; // font weight, and line height in font sizes
const OLD_GAP = 3; // px between an old number and the box beside it

/**
 * @param {Drawn} picture
 * @param {{ rows: Map<string, Map<number, any>>, strength: number }} glow
 */
export function drawGlow(picture, { rows, strength }) {
  const { x, w, rowY, rowHeight, laneY } = picture.layout;
  const opacity = easeOut(strength);
  for (const part of picture.snapshot.parts) {
    const changed = rows.get(part.name);
    if (!changed || !picture.has(part.name)) continue;
    const isLane = part.role === "lane";
    const height = isLane ? 36 * picture.unit : Math.min(28 * picture.unit, Math.max(...rowHeight));
    for (const row of changed.keys()) {
      const y = isLane ? laneY : rowY[row];
      if (!isLane && rowHeight[row] < LEAST_GLOW_ROW) continue;
      const box = {
        x: x[part.name] - 4 * picture.unit, y: y - height / 2, width: w[part.name] + 8 * picture.unit, height,
        rx: 6 * picture.unit,
      };
      picture.put("marks", "rect", `glow ${part.name} ${row}`, { ...box, class: "glow", opacity });
    }
  }
  drawOldNumbers(picture, rows, opacity);
}

// Draws old attention weights, then the query's other old numbers, then the old numbers of the keys.
// An old number is omitted if there is no room for it.
function drawOldNumbers(picture, rows, opacity) {
  const taken = [...picture.shapes.made]
    .filter(([, shape]) => shape.round === picture.shapes.round)
    .flatMap(boxOfShape);
  const rank = (part) => (part.is_share ? 0 : part.role === "lane" ? 1 : 2);
  const parts = picture.snapshot.parts.filter((part) => rows.has(part.name) && picture.has(part.name));
  for (const part of parts.sort((one, other) => rank(one) - rank(other))) {
    for (const [row, change] of rows.get(part.name)) {
      const isStripe = part.role !== "lane" && picture.layout.rowHeight[row] < LEAST_GLOW_ROW;
      if (!isStripe) drawOldNumber(picture, part, row, change, taken, opacity);
    }
  }
}

function drawOldNumber(picture, part, row, { m, old, now }, taken, opacity) {
  const spell = part.is_share ? spellPercent : fixed;
  const beside = boxBeside(picture, part, row, m);
  if (!beside || spell(old) === spell(now)) return;
  const size = Math.max(OLD_PX.least, OLD_PX[part.is_share ? "share" : "other"] * picture.unit);
  const isNamed = part.is_share ? now >= TELLING_SHARE : part.role === "lane";
  const texts = isNamed ? [picture.saysBefore(spell(old)), spell(old)] : [spell(old)];
  const places = texts.flatMap((text) =>
    placesBeside(beside, textWidth(text, size, OLD_WEIGHT), size, part.is_share).map((box) => ({ box, text })),
  );
  const found = places.find(({ box }) => isInside(picture, box) && !taken.some((other) => boxesOverlap(box, other)));
  if (!found) return;
  const { box, text } = found;
  taken.push(box);
  const at = { x: box.left, y: (box.top + box.bottom) / 2, "font-size": size };
  picture.put("texts", "text", `old ${part.name} ${row}`, { ...at, class: "old", text, opacity });
}

// Returns the box of a new number, beside which the old one is drawn; null if the new number is not drawn.
// For an attention weight, this is the box of the percentage if that is drawn, else of the cell or bar.
function boxBeside(picture, part, row, m) {
  const percent = part.is_share && picture.shapes.made.get(`texts percent ${row}`);
  if (percent?.round === picture.shapes.round) return boxOfShape([`texts percent ${row}`, percent])[0];
  const box = boxOfNumber(picture, part, row, m);
  return box && { left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height };
}

// Returns the boxes where an old number may be drawn, the preferred box first.
// The boxes of a weight are right of, above and below its percentage.
// The boxes of any other number are above, below and right of its cell.
function placesBeside({ left, right, top, bottom }, width, size, isShare) {
  const [middle, across] = [(top + bottom) / 2, (left + right) / 2];
  const half = (OLD_LINE * size) / 2;
  const boxAt = (x, y) => ({ left: x, right: x + width, top: y - half, bottom: y + half });
  const behind = boxAt(right + 2 * OLD_GAP, middle);
  const [above, below] = [
    boxAt(across - width / 2, top - OLD_GAP - size / 2), boxAt(across - width / 2, bottom + OLD_GAP + size / 2),
  ];
  return isShare ? [behind, above, below] : [above, below, behind];
}

function isInside({ layout: { frame } }, { left, right, top, bottom }) {
  return left >= 0 && right <= frame.width && top >= 0 && bottom <= frame.height;
}

// Returns [box] for a text, cell or bar, which an old number must not cover; [] for any other shape.
function boxOfShape([key, { attributes }]) {
  const { x, y, width, height, text } = attributes;
  if (key.startsWith("cells ") || key.startsWith("shares "))
    return width === undefined ? [] : [{ left: x, right: x + width, top: y, bottom: y + height }];
  if (!key.startsWith("texts ") || !text) return [];
  const [size, look] = [attributes["font-size"], attributes.class ?? ""];
  const wide = textWidth(text, size, 700);
  const start = /\b(middle|sign|name|segment)\b/.test(look) ? x - wide / 2 : /\bend\b/.test(look) ? x - wide : x;
  return [{ left: start, right: start + wide, top: y - size / 2, bottom: y + size / 2 }];
}
