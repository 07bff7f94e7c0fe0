// Repeats the core's calculation in the browser ("twin"): during a drag it computes the same steps as the server.
// This copy has only the basic operations of one layer; a step with another operation keeps the server's last numbers.
// Steps that depend on such a step keep the server's numbers, too; `waiting` contains the names of all these steps.

/**
 * @typedef {object} Operation the operation that computes a step
 * @property {string} name the name of the function in the core
 * @property {string[]} reads the steps that it reads
 * @property {Record<string, any>} params
 */

/**
 * @typedef {object} Step a tensor of the Trace, flattened row by row
 * @property {string[]} dims the names of its axes
 * @property {number[]} shape
 * @property {Float64Array} value
 * @property {Operation | null} operation null for an input
 * @property {boolean} [perQuery] whether it has a query axis and no key depends on it
 * @property {"signed" | "share" | "mark"} kind the kind of its numbers: any, shares, or 0 and 1
 * @property {string} label
 * @property {{ left: Operand, above: Operand } | null} [product] the two factors if it is a matrix product
 */

/** @typedef {{ step: string, transposed: boolean, family: string }} Operand */
/** @typedef {Record<string, Step>} Steps name -> step, each after the steps that it reads */

/**
 * @typedef {object} Change the dragged changes of a run
 * @property {Record<string, ArrayLike<number>>} [values] step -> its new numbers
 * @property {Record<string, Record<string, any>>} [params] step -> its new parameters
 * @property {boolean} [waits] whether only the server can compute it
 */

/** @typedef {{ query: number, head?: number }} Wanted the query's row of each head, and all rows of `head` */

/** The last item; the list is not empty. @type {<Item>(items: ArrayLike<Item>) => Item} */
export const lastOf = (items) => items[items.length - 1];

/**
 * The position of an index in a flattened tensor. Axes of length 1 and missing leading axes broadcast.
 * @param {number[]} shape
 * @param {number[]} index
 * @returns {number}
 */
export function placeOf(shape, index) {
  const missing = index.length - shape.length;
  let place = 0;
  for (let axis = 0; axis < shape.length; axis++) {
    const i = shape[axis] === 1 ? 0 : index[axis + missing];
    place = place * shape[axis] + i;
  }
  return place;
}

const at = (tensor, ...index) => tensor.value[placeOf(tensor.shape, index)];

// Returns the numbers along the last axis at an index of all axes before it.
const rowOf = (tensor, index) => Array.from({ length: lastOf(tensor.shape) }, (_, i) => at(tensor, ...index, i));

/** The key/value head that a query head reads. @type {(head: number, heads: number, keyHeads: number) => number} */
export const keyHead = (h, heads, keyHeads) => Math.floor(h / (heads / keyHeads));

/**
 * The sum of term(0) to term(count - 1).
 * @param {number} count
 * @param {(i: number) => number} term
 */
export function sum(count, term) {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
}

/** The sum of numbers. @param {ArrayLike<number>} numbers */
export const totalOf = (numbers) => sum(numbers.length, (i) => numbers[i]);

/** The softmax of a row; zeros if all its scores are blocked. @param {number[]} scores */
function softmaxRow(scores) {
  const top = Math.max(...scores);
  if (top === -Infinity) return scores.map(() => 0);
  const powers = scores.map((score) => Math.exp(score - top));
  const total = totalOf(powers);
  return powers.map((power) => power / total);
}

// Bounds, for RoPE scaling as in positions.py, of the number of turns of a pair over the trained length.
// Each bound is [fewest turns, most turns].
const TURNS = { yarn_turns: [1, 32], llama3: [1, 4] };
const RAMPS = { yarn: true, yarn_unrounded: false };
const unit = (number) => Math.min(Math.max(number, 0), 1);
/**
 * The angle in radians by which RoPE rotates a pair per position.
 * @param {number} pair
 * @param {number} width
 * @param {any} params the parameters of the operation rope
 */
function ropeFrequency(pair, width, { base, scaling, factor, trained, pair_factors }) {
  const own = pair_factors ? pair_factors[pair] : 1;
  const ground = scaling === "ntk" && width > 2 ? base * factor ** (width / (width - 2)) : base;
  const frequency = ground ** ((-2 * pair) / width);
  if (scaling === "linear") return (own * frequency) / factor;
  let kept = 1;
  if (scaling in TURNS) {
    const [fewest, most] = TURNS[scaling];
    kept = unit(((trained * frequency) / (2 * Math.PI) - fewest) / (most - fewest));
  }
  if (scaling in RAMPS) {
    const [first, last] = yarnRamp(width, base, trained, RAMPS[scaling]);
    kept = 1 - unit((pair - first) / (last - first));
  }
  return own * (((1 - kept) * frequency) / factor + kept * frequency);
}

// Returns the last pair whose frequency YaRN keeps, and the first pair that it divides by the whole factor.
function yarnRamp(width, base, trained, isRounded) {
  if (base === 1) return trained < 2 * Math.PI ? [0, width - 1] : [width - 1, width];
  const pairThatTurns = (turns) => (width * Math.log(trained / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  let [first, last] = [pairThatTurns(32), pairThatTurns(1)];
  if (isRounded) [first, last] = [Math.floor(first), Math.ceil(last)];
  [first, last] = [Math.max(first, 0), Math.min(last, width - 1)];
  return [first, first === last ? last + 0.001 : last];
}

const yarnGrowth = (factor, mscale) => (factor > 1 ? 0.1 * mscale * Math.log(factor) + 1 : 1);
/** The factor by which RoPE scales q and k. @type {(params: any) => number} */
const ropeLength = ({ scaling, factor, mscale, mscale_all_dim }) =>
  scaling.startsWith("yarn") ? yarnGrowth(factor, mscale) / yarnGrowth(factor, mscale_all_dim) : 1;

// ---- operations: name of the function in the core -> function that computes one cell --------------------------------
/** @type {Record<string, (index: number[], operands: Step[], params: Record<string, any>) => number>} */
const CELLS = {
  project: ([b, t, n], [x, w, bias]) =>
    sum(w.shape[0], (m) => at(x, b, t, m) * at(w, m, n)) + (bias ? at(bias, n) : 0),
  split_heads: ([b, h, t, m], [x], { heads }) => at(x, b, t, h * (x.shape[2] / heads) + m),
  dot: ([b, h, t, s], [q, k]) => {
    const g = keyHead(h, q.shape[1], k.shape[1]);
    return sum(q.shape[3], (m) => at(q, b, h, t, m) * at(k, b, g, s, m));
  },
  scale: (index, [scores], { factor, temperature }) => at(scores, ...index) * (factor / temperature),
  softcap: (index, [scores], { cap }) => cap * Math.tanh(at(scores, ...index) / cap),
  add: (index, [left, right]) => at(left, ...index) + at(right, ...index),
  causal_mask: ([, , i, j], _, { query_offset }) => Number(j <= i + query_offset),
  local_mask: ([, , i, j], _, { window, query_offset }) => Number(Math.abs(i + query_offset - j) <= window),
  sliding_mask: ([, , i, j], _, { window, query_offset }) =>
    Number(j <= i + query_offset && j > i + query_offset - window),
  dilated_mask: ([, , i, j], _, { window, dilation, query_offset }) => {
    const distance = Math.abs(i + query_offset - j);
    return Number(distance <= window * dilation && distance % dilation === 0);
  },
  local_global_mask: ([, , i, j], _, { window, global_tokens, query_offset }) => {
    const query = i + query_offset;
    return Number(Math.abs(query - j) <= window || global_tokens.includes(query) || global_tokens.includes(j));
  },
  all_allow: (index, masks) => Number(masks.every((mask) => at(mask, ...index))),
  mask_scores: (index, [scores, allowed]) => (!allowed || at(allowed, ...index) ? at(scores, ...index) : -Infinity),
  mix: ([b, h, t, m], [weights, v]) => {
    const g = keyHead(h, weights.shape[1], v.shape[1]);
    return sum(v.shape[2], (s) => at(weights, b, h, t, s) * at(v, b, g, s, m));
  },
  open_gate: ([b, h, t, m], [x, w], { heads }) => {
    const column = h * (w.shape[1] / heads) + m;
    return 1 / (1 + Math.exp(-sum(w.shape[0], (n) => at(x, b, t, n) * at(w, n, column))));
  },
  place_vectors: ([t, column], [table], { first_position }) => at(table, t + first_position, column),
  rope: (cell, [x], params) => {
    const [index, m] = [cell.slice(0, -1), lastOf(cell)];
    const width = params.columns ?? lastOf(x.shape);
    if (m >= width) return at(x, ...cell);
    const isHalf = params.style === "half";
    const pair = isHalf ? m % (width / 2) : Math.floor(m / 2);
    const [left, right] = isHalf ? [pair, pair + width / 2] : [2 * pair, 2 * pair + 1];
    const [a, b] = [at(x, ...index, left), at(x, ...index, right)];
    const angle = (lastOf(index) + params.first_position) * ropeFrequency(pair, width, params);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return ropeLength(params) * (m === right ? a * sin + b * cos : a * cos - b * sin);
  },
  add_turned: ([b, h, t, s], [scores, q, k]) =>
    at(scores, b, h, t, s) + sum(q.shape[3], (m) => at(q, b, h, t, m) * at(k, b, s, m)),
  sigmoid_weights: (index, [scores], { bias }) => 1 / (1 + Math.exp(-(at(scores, ...index) + bias))),
  mask_to_zero: (index, [scores, allowed]) => (!allowed || at(allowed, ...index) ? at(scores, ...index) : 0),
  feature_map: (index, [x]) => (at(x, ...index) > 0 ? at(x, ...index) + 1 : Math.exp(at(x, ...index))),
  take_half: (cell, [x], { half }) => at(x, ...cell.slice(0, -1), half * (lastOf(x.shape) / 2) + lastOf(cell)),
  exp_of_dot: ([h], [one, other]) => {
    const place = (vector, m) => (vector.shape.length > 1 ? at(vector, h, m) : at(vector, m));
    return Math.exp(sum(lastOf(one.shape), (m) => place(one, m) * place(other, m)));
  },
  balance: ([h], [first, second], { lam_init }) => at(first, h) - at(second, h) + lam_init,
  subtract_map: (index, [first, second, lam]) => at(first, ...index) - at(lam, index[1]) * at(second, ...index),
  shrink: (index, [x], { lam_init }) => at(x, ...index) * (1 - lam_init),
  let_through: (index, [outputs, opened]) => at(outputs, ...index) * at(opened, ...index),
  merge_heads: ([b, t, n], [x]) => {
    const width = x.shape[3];
    return at(x, b, Math.floor(n / width), t, n % width);
  },
  pass_on: (index, [x]) => at(x, ...index),
};

/**
 * Operations on a whole row: name -> function that returns the numbers of the last axis.
 * @type {Record<string, (row: number[], operands: Step[], params: Record<string, any>) => number[]>}
 */
const ROWS = {
  masked_softmax: (row, [scores]) => softmaxRow(rowOf(scores, row)),
  rms_norm: (row, [x, gain], { eps }) => {
    const numbers = rowOf(x, row);
    const rms = Math.sqrt(sum(numbers.length, (m) => numbers[m] ** 2) / numbers.length + eps);
    return numbers.map((number, m) => (number / rms) * at(gain, m));
  },
  share_of_sum: (row, [scores]) => {
    const own = rowOf(scores, row);
    const total = totalOf(own);
    return own.map((score) => (total ? score / total : 0));
  },
  sink_softmax: (row, [scores, sinks]) => softmaxRow([...rowOf(scores, row), at(sinks, row[1])]).slice(0, -1),
};

/** Whether the browser can compute an operation. @type {(operation: Operation) => boolean} */
export const knows = ({ name }) => name in CELLS || name in ROWS;

/**
 * Yields every index before the last axis; of a step with a row for each query only the wanted ones.
 * @param {Step} step
 * @param {Wanted} [wanted]
 * @returns {Generator<number[]>}
 */
function* rowsOf({ dims, shape, perQuery }, wanted) {
  const leading = shape.slice(0, -1);
  const index = leading.map(() => 0);
  const [axisOfQueries, axisOfHeads] = [dims.indexOf("T"), dims.indexOf("H")];
  const isOfHead = (head) => head !== undefined && (axisOfHeads < 0 || index[axisOfHeads] === head);
  for (;;) {
    if (!wanted || !perQuery || index[axisOfQueries] === wanted.query || isOfHead(wanted.head)) yield index;
    let axis = leading.length - 1;
    while (axis >= 0 && ++index[axis] === leading[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

/**
 * The numbers of a step, computed from the steps that it reads.
 * @param {Step} step
 * @param {Step[]} operands
 * @param {Wanted} [wanted] all rows if it is missing
 * @returns {Float64Array}
 */
export function computeStep(step, operands, wanted) {
  if (!step.operation) return step.value;
  const { name, params } = step.operation;
  const width = lastOf(step.shape);
  const value = step.value.slice(); // the copy keeps the numbers of rows that are not `wanted`
  for (const row of rowsOf(step, wanted)) {
    const first = placeOf(step.shape.slice(0, -1), row) * width;
    if (ROWS[name]) ROWS[name](row, operands, params).forEach((number, n) => (value[first + n] = number));
    else for (let n = 0; n < width; n++) value[first + n] = CELLS[name]([...row, n], operands, params);
  }
  return value;
}

/**
 * Computes a run after a change of numbers or parameters. waiting: names of steps that the twin cannot compute.
 * @param {Steps} steps
 * @param {Change} change
 * @param {Wanted} [wanted] all rows if it is missing
 * @returns {{ steps: Steps, waiting: Set<string>, partial: Set<string> }} partial: steps made of several heads, of
 *   which only the query's row was computed
 */
export function follow(steps, { values = {}, params = {} }, wanted) {
  const made = {};
  const [moved, waiting, partial] = [new Set(), new Set(), new Set()];
  const isOfSomeHeads = (name) =>
    partial.has(name) || (moved.has(name) && made[name].shape[made[name].dims.indexOf("H")] > 1);
  for (const [name, step] of Object.entries(steps)) {
    made[name] = step;
    if (values[name]) {
      made[name] = { ...step, value: values[name] };
      moved.add(name);
      continue;
    }
    const { operation } = step;
    if (!operation) continue;
    const depends = operation.reads.some((read) => moved.has(read) || waiting.has(read));
    if (!depends && !params[name]) continue;
    const isKnown = knows(operation) && operation.reads.every((read) => made[read] && !waiting.has(read));
    if (!isKnown) {
      waiting.add(name);
      continue;
    }
    const changed = { ...step, operation: { ...operation, params: { ...operation.params, ...params[name] } } };
    const operands = operation.reads.map((read) => made[read]);
    const lacksRows =
      wanted &&
      step.perQuery &&
      (wanted.head === undefined || (!step.dims.includes("H") && operation.reads.some(isOfSomeHeads)));
    if (lacksRows) partial.add(name);
    made[name] = { ...changed, value: computeStep(changed, operands, lacksRows ? { query: wanted.query } : wanted) };
    moved.add(name);
  }
  return { steps: made, waiting, partial };
}
