// Compares two runs: finds the changed rows of each drawn step, and the percentage that the headline had before.
import { finite, isCalm } from "./motion.js";
import { spellPercent } from "./words.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Snapshot} Snapshot */

export const GLOW_MS = 1300; // ms for which changed rows are outlined and show their former number
export const BEFORE_MS = 3200; // ms for which the headline shows the percentage before a change

/**
 * Compares two snapshots.
 * @param {Snapshot} before
 * @param {Snapshot} now a snapshot of the same words
 * @param {Model} model
 * @returns {{ rows: Map<string, Map<number, { m: number, old: number, now: number, by: number }>>, said: string, begun:
 *   number | null } | null} rows: part -> row -> the number that changed most. said: the earlier percentage in the
 *   headline; "" if unchanged. begun: the time in ms at which it was first drawn. null if nothing changed
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

/**
 * The changed rows and the strength of their glow, which falls from 1 to 0 (always 1 with reduced motion); null once
 * the glow is over.
 * @param {ReturnType<typeof findChanges> | undefined} glow
 * @param {number} now ms
 */
export function fading(glow, now) {
  if (!glow) return null;
  glow.begun ??= now;
  const left = 1 - (now - glow.begun) / GLOW_MS;
  return left > 0 ? { rows: glow.rows, strength: isCalm() ? 1 : left } : null;
}

/** Whether two numbers differ by more than rounding. @type {(one: number, other: number) => boolean} */
export const isOther = (one, other) =>
  one !== other && !(Math.abs(one - other) <= 1e-6 * Math.max(Math.abs(one), Math.abs(other)));
/**
 * Whether two data show the same words in the same layer, so that different numbers are a change of the run.
 * @type {(one: any, other: any) => boolean}
 */
export const isSameSight = (one, other) =>
  ["T", "S"].every((axis) => String(one.words[axis]) === String(other.words[axis])) &&
  one.layers.now === other.layers.now;
