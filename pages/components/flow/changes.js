// What a change of the run changed: of each part the rows whose numbers are others; what the headline said before.
import { finite, isCalm } from "./motion.js";
import { spellPercent } from "./words.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Snapshot} Snapshot */

export const GLOW_MS = 1300; // what a change changed is outlined, and has its old number beside it
export const BEFORE_MS = 3200; // what the headline said before

/**
 * What a change of the run changed.
 * @param {Snapshot} before
 * @param {Snapshot} now of the same words
 * @param {Model} model
 * @returns {{ rows: Map<string, Map<number, { m: number, old: number, now: number, by: number }>>, said: string, begun:
 *   number | null } | null} of each part and row the number that changed most, what the headline said, and when it was
 *   first seen; null if nothing changed
 */
export function findChanges(before, now, model) {
  const rows = new Map();
  for (const part of now.parts) {
    const changed = changedRows(
      before.numbers[part.name],
      now.numbers[part.name],
      part.role === "lane" ? 1 : model.keys.length,
    );
    if (changed.size) rows.set(part.name, changed);
  }
  if (!rows.size) return null;
  const best = model.mostOf(now.shares);
  const [old, said] = [before.shares[best], now.shares[best]].map(spellPercent);
  return { rows, said: old === said ? "" : old, begun: null };
}

function changedRows(old, now, count) {
  const changed = new Map();
  if (!old || old.length !== now.length) return changed;
  const width = now.length / count;
  now.forEach((number, i) => {
    if (!isOther(old[i], number)) return;
    const row = Math.floor(i / width);
    const by = Math.abs(finite(old[i]) - finite(number));
    if (by > (changed.get(row)?.by ?? -1)) changed.set(row, { m: i % width, old: old[i], now: number, by });
  });
  return changed;
}

// What a change changed, as strongly as it still glows; where nothing may move it is there, and then gone.
export function fading(glow, now) {
  if (!glow) return null;
  glow.begun ??= now;
  const left = 1 - (now - glow.begun) / GLOW_MS;
  return left > 0 ? { rows: glow.rows, strength: isCalm() ? 1 : left } : null;
}

/** Whether two numbers differ by more than rounding. @type {(one: number, other: number) => boolean} */
export const isOther = (one, other) =>
  one !== other && !(Math.abs(one - other) <= 1e-6 * Math.max(Math.abs(one), Math.abs(other)));
// Of the same words in the same layer: else nothing was changed, only opened.
export const isSameSight = (one, other) =>
  ["T", "S"].every((axis) => String(one.words[axis]) === String(other.words[axis])) &&
  one.layers.now === other.layers.now;
