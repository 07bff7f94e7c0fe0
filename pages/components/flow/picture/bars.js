// Draws a column of the animated picture as bars, one for each key's score.
import { between, clamp, easeInOut, finite, settle } from "../motion.js";
import { legible, spellNumber, textWidth } from "../words.js";
import { changeOf, heightOfOutline } from "./glow.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const [NUMBER_PX, RESTING_PX] = [15, 13.5]; // font sizes at unit 1: of a number that is being computed, and of others
const CHANGE_PX = 12.5; // font size at unit 1 of a number that has just changed
const GAP = 6; // px at unit 1 before and after the number beside a bar
const TELLING_COLUMN = 60; // px at unit 1: in a column at least this wide, each bar has its number
const LEAST_HIT = 8; // px: least height of an area that a pointer can hit

/**
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} share how much of the part is drawn, from 0 to 1
 */
export function drawBars(picture, part, share) {
  const { x, w } = picture.layout;
  const middle = x[part.name] + w[part.name] / 2;
  const axis = {
    d: `M${middle},${picture.layout.headHeight}V${picture.layout.frame.height - 8 * picture.unit}`, class: "axis",
  };
  picture.put("lane", "path", `axis ${part.name}`, { ...axis, opacity: clamp(share * 3) * 0.8 });
  for (let row = 0; row < picture.rows; row++) drawBar(picture, part, row, share);
}

function drawBar(picture, part, row, share) {
  const { x, w, rowY, rowHeight } = picture.layout;
  if (picture.isRest(row)) return;
  const numbers = picture.snapshot.numbers[part.name];
  const before = part.reads.find((name) => picture.byName.get(name)?.role === "pair");
  const grows = !before; // the bar of a dot product grows from zero; other bars move here from the column before
  const own = grows ? picture.turn(share, row) : clamp(share * 1.25 - (0.25 * row) / picture.rows);
  if (own <= 0) return;
  const isBlocked = part.motion === "mask" && numbers[row] === -Infinity;
  const target = Number.isFinite(numbers[row]) ? numbers[row] : 0;
  const source = before ? finite(picture.snapshot.numbers[before][row]) : 0;
  const number = grows ? target * settle(own) : between(source, isBlocked ? source : target, easeInOut(own));
  const end = x[part.name] + w[part.name] / 2;
  const start = before && picture.has(before) ? x[before] + w[before] / 2 : end;
  const middle = grows ? end : between(start, end, easeInOut(own));
  // All columns of scores have one scale, so that a division visibly shrinks the bars.
  const length = clamp(Math.abs(number) / (picture.largest[part.name] || 1)) * picture.layout.bar;
  const height = Math.max(1, Math.min(15 * picture.unit, rowHeight[row] - 2));
  const look = `bar ${number < 0 ? "minus" : "plus"}`;
  const box = {
    x: number < 0 ? middle - length : middle, y: rowY[row] - height / 2, width: Math.max(0.01, length), height,
    rx: Math.min(3 * picture.unit, height / 3),
  };
  const means = { part: part.name, row, m: 0 };
  const nearness = picture.nearness(row);
  picture.put(
    "cells", "rect", `${part.name} ${row}`,
    { ...box, class: look, opacity: nearness * (isBlocked ? 1 - own : 1) },
    means,
  );
  if (isBlocked) drawBlocked(picture, part, row, clamp(own * 2 - 1) * nearness);
  else if (length < 1.5) drawZero(picture, part, row, middle, nearness, height);
  if (rowHeight[row] >= LEAST_HIT) {
    const whole = {
      x: x[part.name], y: rowY[row] - Math.max(height, LEAST_HIT) / 2, width: w[part.name],
      height: Math.max(height, LEAST_HIT),
    };
    picture.put("hits", "rect", `${part.name} ${row}`, { ...whole, class: "hit" }, means);
  }
  const isActive = picture.isActive(part) && own > 0.6;
  const isWide = !picture.layout.frame.compact && w[part.name] >= TELLING_COLUMN * picture.unit;
  const isResting = isWide && !picture.isActive(part) && length >= 1.5;
  const tells =
    picture.hovered === row || (picture.hovered === null && (isActive || isResting) && rowHeight[row] > 16);
  if (!tells || isBlocked || picture.layout.folded.has(part.name)) return;
  if (isResting && drawChange(picture, part, row)) return;
  const size = legible((isResting && picture.hovered === null ? RESTING_PX : NUMBER_PX) * picture.unit);
  const at = { x: (number < 0 ? middle : middle + length) + GAP * picture.unit, y: rowY[row], "font-size": size };
  const text = spellNumber(picture.isActive(part) ? number : target);
  const numberEnd = at.x + textWidth(text, size);
  const next = picture.columns[picture.columns.indexOf(part) + 1];
  if (isResting && next?.is_share && numberEnd > x[next.name]) return; // the ribbon would cover it
  picture.put("texts", "text", `number ${part.name} ${row}`, {
    ...at, class: `number${isResting ? " resting" : ""}`, text,
  });
  picture.numberEnds.set(`${part.name} ${row}`, numberEnd + GAP * picture.unit);
}

// Writes a number that has just changed above its bar, as "old → new"; returns whether there is room for it.
function drawChange(picture, part, row) {
  const change = changeOf(picture, part, row, spellNumber);
  if (!change) return false;
  const { x, w, rowY, rowHeight } = picture.layout;
  const size = legible(CHANGE_PX * picture.unit);
  const outline = heightOfOutline(picture, row);
  const middleOf = ({ name }) => x[name] + w[name] / 2;
  const others = picture.columns.filter((other) => other !== part && other.role === "pair" && !other.is_share);
  const room = Math.min(...others.map((other) => Math.abs(middleOf(other) - middleOf(part))));
  if (rowHeight[row] < outline + size || textWidth(change.both, size, 600) + GAP > room) return false;
  const at = { x: middleOf(part), y: rowY[row] - (outline + size) / 2 - 1, "font-size": size };
  picture.put("texts", "text", `old ${part.name} ${row}`, { ...at, class: "old middle", text: change.both });
  return true;
}

function drawZero(picture, part, row, x, opacity, height) {
  const dot = { cx: x, cy: picture.layout.rowY[row], r: Math.min(2.6 * picture.unit, height / 2) };
  picture.put("cells", "circle", `zero ${part.name} ${row}`, { ...dot, class: "zero", opacity });
}

function drawBlocked(picture, part, row, opacity) {
  const { x, w, rowY, rowHeight } = picture.layout;
  const height = Math.max(1, Math.min(18 * picture.unit, rowHeight[row] - 2));
  const box = { x: x[part.name] + w[part.name] * 0.2, y: rowY[row] - height / 2, width: w[part.name] * 0.6, height };
  picture.put("cells", "rect", `blocked ${part.name} ${row}`, {
    ...box, rx: 3 * picture.unit, class: "blocked", opacity,
  });
}
