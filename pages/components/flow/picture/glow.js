// Outlines the rows of changed numbers for a moment, and writes a changed number as "old → new".
import { easeOut } from "../motion.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const LEAST_GLOW_ROW = 12; // px: rows that are lower have no outline
const BAR_EDGE = 2.5; // px at unit 1 between a bar and its outline

/** @param {Drawn} picture */
export function drawGlow(picture) {
  if (!picture.glow) return;
  const { rows, strength } = picture.glow;
  const { x, w, rowY, rowHeight, laneY } = picture.layout;
  const opacity = easeOut(strength);
  for (const part of picture.snapshot.parts) {
    const changed = rows.get(part.name);
    if (!changed || !picture.has(part.name)) continue;
    const isLane = part.role === "lane";
    const usual = isLane ? 36 * picture.unit : Math.min(28 * picture.unit, Math.max(...rowHeight));
    for (const row of changed.keys()) {
      const y = isLane ? laneY : rowY[row];
      if (!isLane && rowHeight[row] < LEAST_GLOW_ROW) continue;
      const height = part.role === "pair" && !part.is_share ? heightOfOutline(picture, row) : usual;
      const box = {
        x: x[part.name] - 4 * picture.unit, y: y - height / 2, width: w[part.name] + 8 * picture.unit, height,
        rx: 6 * picture.unit,
      };
      picture.put("marks", "rect", `glow ${part.name} ${row}`, { ...box, class: "glow", opacity });
    }
  }
}

/**
 * The height of the outline of a bar, in px; a number above the bar stands above its outline.
 * @param {Drawn} picture
 * @param {number} row
 */
export function heightOfOutline(picture, row) {
  return Math.min(15 * picture.unit, picture.layout.rowHeight[row] - 2) + 2 * BAR_EDGE * picture.unit;
}

/**
 * The old and the new text of a number that has just changed; null if it reads the same, or has not changed.
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} row
 * @param {(number: number) => string} spell
 * @returns {{ old: string, both: string } | null}
 */
export function changeOf(picture, part, row, spell) {
  const change = picture.glow?.rows.get(part.name)?.get(row);
  if (!change) return null;
  const [old, now] = [spell(change.old), spell(change.now)];
  return old === now ? null : { old, both: `${old} → ${now}` };
}
