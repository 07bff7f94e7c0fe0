// Computes the scores of one query and one key of two components each in the browser, during a drag.
// The server computes the same scores. made: the learned matrices { w_a, w_aq, w_ak, v_a }, as rows of numbers.
/** @typedef {number[]} Vector of two numbers */
/** @typedef {number[][]} Matrix of two rows of two numbers */

/** @type {(one: Vector, other: Vector) => number} */
export const dot = ([a, b], [c, d]) => a * c + b * d;

/** @type {(vector: Vector) => number} */
export const lengthOf = (vector) => Math.hypot(...vector);

/** The product of a row vector and a matrix. @type {(row: Vector, matrix: Matrix) => Vector} */
export const turned = ([a, b], [[c, d], [e, f]]) => [a * c + b * e, a * d + b * f];

/** @type {(one: Vector, other: Vector) => Vector} */
export const together = ([a, b], [c, d]) => [a + c, b + d];

/** @typedef {{ w_a: Matrix, w_aq: Matrix, w_ak: Matrix, v_a: Vector }} Made the learned matrices of the scores */
/** @type {Record<string, (q: Vector, k: Vector, made: Made) => number>} */
export const MATCHES = {
  cosine: (q, k) => dot(q, k) / (Math.max(lengthOf(q), 1e-8) * Math.max(lengthOf(k), 1e-8)),
  scaled_dot: (q, k) => dot(q, k) / Math.SQRT2, // √2, because d_k is 2
  dot,
  general: (q, k, { w_a }) => dot(turned(q, w_a), k),
  additive: (q, k, { w_aq, w_ak, v_a }) => dot(together(turned(q, w_aq), turned(k, w_ak)).map(Math.tanh), v_a),
};
