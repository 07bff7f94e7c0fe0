// Whether what the twin made is what the server makes.
import { finite } from "./motion.js";
import { computeStep, knows } from "./twin.js";

const ROUNDINGS = 32; // of a sum of products, at most
const FLOAT32_ROUNDING = 2 ** -23;
const ROUNDINGS_OF_RUN = 8; // of a coarser precision, from what was dragged to the shares

// Whether the twin would have made of the server's numbers what the server made: the first step that it moved where
// not. steps: the server's, as of twin.js. names: of those that the twin moved. rounding: of the precision of the run.
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

// What a hand saw when it let go, until the run comes that answers it.
export class ShownRows {
  constructor() {
    this.rows = []; // { change, look, numbers: part -> of the query that was looked at }
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

  // Whether a run is still to come.
  get waits() {
    return this.rows.length > 0;
  }

  // The first part of the row whose numbers are others in the run that answers; null where none is, or where the run is
  // no answer. before, now: the data of both runs. model: of the new one.
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

  // The row that a run answers: the run moved nothing but what a hand had moved. Of several that wait it is the one
  // whose parameters and numbers it has.
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

// What of a run was given, and is not as it was before: inputs and steps with other parameters; null of another run.
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

// Whether what a hand has moved is as it was.
export function isProven(steps, { values = {}, params = {} }) {
  const isSame = ([name, numbers]) => steps[name]?.value.every((number, i) => number === numbers[i]);
  return Object.entries(values).every(isSame) && hasParams(steps, params);
}

// Whether a run has the numbers that a hand had moved, but for its rounding.
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

// The numbers of which shares are made: the larger they are, the more a rounding moves the shares.
function scoresBefore(model, part) {
  return (part.is_share && model.scoresOf(part.name)?.value) || [];
}

const largestSize = (numbers, least) =>
  numbers.reduce((most, number) => Math.max(most, Math.abs(finite(number))), least);
const isFar = (one, other, allowed) => !Object.is(one, other) && !(Math.abs(one - other) <= allowed);
