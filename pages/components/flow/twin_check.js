// Checks whether the numbers that the browser computed during a drag (twin.js) equal those of the server.
import { finite } from "./motion.js";
import { computeStep, knows } from "./twin.js";

const ROUNDINGS = 32; // largest allowed error of a sum of products, in rounding errors
const FLOAT32_ROUNDING = 2 ** -23;
const ROUNDINGS_OF_RUN = 8; // tolerance for weights after a drag of a vector, in rounding errors of the run's dtype

/** @typedef {import("./twin.js").Steps} Steps */
/** @typedef {import("./twin.js").Change} Change */

/**
 * Computes steps with the twin from the server's numbers; returns the name of the first step that differs from the
 * server's, or null.
 * @param {Steps} steps the server's
 * @param {string[]} names of the steps that the twin recomputed
 * @param {number} query
 * @param {number} rounding of the run's precision
 */
export function findTwinDifference(steps, names, query, rounding) {
  const allowed = ROUNDINGS * Math.max(rounding, FLOAT32_ROUNDING);
  return names.find((name) => {
    const step = steps[name];
    if (!step?.operation || !knows(step.operation)) return false;
    const own = computeStep(step, step.operation.reads.map((read) => steps[read]), { query });
    const largest = largestSize(step.value, 1);
    return own.some((number, i) => isFar(number, step.value[i], allowed * largest));
  }) ?? null;
}

// Stores the numbers shown at the end of each drag, to compare them with the run that the server computes for it.
export class ShownRows {
  constructor() {
    this.rows = []; // for each drag: { change, look (the selection), numbers: part -> numbers of the selected query }
  }

  keep({ change, look, snapshot, waiting }) {
    const shown = snapshot.parts.filter((part) => part.is_share || (part.role === "lane" && part.after));
    const numbers = Object.fromEntries(
      shown.filter(({ name }) => !waiting.has(name)).map(({ name }) => [name, snapshot.numbers[name]]),
    );
    this.rows.push({ change, look: { ...look }, numbers });
  }

  forget() {
    this.rows = [];
  }

  // Returns whether the server still has to answer a drag.
  get waits() {
    return this.rows.length > 0;
  }

  // Compares the server's answer to a drag with the numbers that the browser showed when the drag ended.
  // The result is the name of the first part that differs; null if none differs, or if the run answers no drag.
  // before, now: the data of the previous and of the new run. model: the Model of the new run.
  compare(before, now, model) {
    const row = this.answered(before, now);
    if (!row) return null;
    const parts = Object.keys(row.numbers).map((name) => model.parts.get(name)).filter(Boolean);
    const sharpness = Math.max(...parts.map((part) => largestSize(scoresBefore(model, part), 1)));
    const allowed = sharpness * Math.max(ROUNDINGS * FLOAT32_ROUNDING, ROUNDINGS_OF_RUN * now.rounding);
    return parts.find((part) => {
      const largest = largestSize(model.step(part.name).value, 1);
      const made = model.numbers(part, row.look);
      return row.numbers[part.name].some((number, i) => isFar(number, made[i], allowed * largest));
    })?.name ?? null;
  }

  // Returns the entry of this.rows for the drag that a run answers, or null; it and earlier entries are removed.
  // A run that answers a drag differs from the previous one only in what was dragged.
  // If several drags are unanswered, the run answers the last one whose parameters and numbers it has.
  answered(before, now) {
    const moved = before && movedInputs(before.steps, now.steps);
    if (!moved) this.rows = [];
    if (!moved?.length) return null;
    const isOf = ({ change: { values = {}, params = {} } }) => moved.every((name) => name in values || name in params);
    const has = ({ change: { values = {}, params = {} } }) => hasParams(now.steps, params) && hasValues(now, values);
    const found = this.rows.findLastIndex((row) => isOf(row) && (has(row) || this.rows.length === 1));
    const row = this.rows[found] ?? null;
    this.rows = row ? this.rows.slice(found + 1) : [];
    return row;
  }
}

/**
 * The names of changed inputs and of steps with changed parameters; null if the runs have different steps or shapes.
 * @type {(before: Steps, now: Steps) => string[] | null}
 */
export function movedInputs(before, now) {
  const names = Object.keys(now);
  const isSame = (name) => before[name] && String(before[name].shape) === String(now[name].shape);
  if (names.length !== Object.keys(before).length || !names.every(isSame)) return null;
  return names.filter((name) => {
    const [old, { operation, value }] = [before[name], now[name]];
    if (operation) return JSON.stringify(operation) !== JSON.stringify(old.operation);
    return value.some((number, i) => !Object.is(number, old.value[i]));
  });
}

/** Whether a dragged change leaves the run of the server as it is. @type {(steps: Steps, change: Change) => boolean} */
export function isProven(steps, { values = {}, params = {} }) {
  const isSame = ([name, numbers]) => steps[name]?.value.every((number, i) => number === numbers[i]);
  return Object.entries(values).every(isSame) && hasParams(steps, params);
}

// Returns whether steps of a run equal the dragged numbers, up to rounding errors.
function hasValues({ steps, rounding }, values) {
  return Object.entries(values).every(([name, numbers]) => {
    const allowed = ROUNDINGS * Math.max(rounding, FLOAT32_ROUNDING) * largestSize(numbers, 1);
    return steps[name]?.value.every((number, i) => !isFar(number, numbers[i], allowed));
  });
}

function hasParams(steps, params) {
  return Object.entries(params).every(([name, wanted]) =>
    Object.entries(wanted).every(
      ([parameter, value]) => String(steps[name]?.operation?.params[parameter]) === String(value),
    ),
  );
}

// Returns the scores from which the attention weights are computed; [] for any other part of the picture.
// The tolerance of weights depends on these scores: the larger they are, the more a rounding error changes the weights.
function scoresBefore(model, part) {
  return (part.is_share && model.scoresOf(part.name)?.value) || [];
}

const largestSize = (numbers, least) =>
  numbers.reduce((most, number) => Math.max(most, Math.abs(finite(number))), least);
const isFar = (one, other, allowed) => !Object.is(one, other) && !(Math.abs(one - other) <= allowed);
