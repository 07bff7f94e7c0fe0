// The scores of one query and one key of two numbers each, for as long as a hand drags: the server replaces them, proven.
// made: what a score has learned, { w_a, w_aq, w_ak, v_a }, as rows of numbers.
export const dot = ([a, b], [c, d]) => a * c + b * d;
export const lengthOf = (vector) => Math.hypot(...vector);
export const turned = ([a, b], [[c, d], [e, f]]) => [a * c + b * e, a * d + b * f]; // a row times a matrix of two rows
export const together = ([a, b], [c, d]) => [a + c, b + d];

export const MATCHES = {
  cosine: (q, k) => dot(q, k) / (Math.max(lengthOf(q), 1e-8) * Math.max(lengthOf(k), 1e-8)),
  scaled_dot: (q, k) => dot(q, k) / Math.SQRT2, // d_k is 2
  dot,
  general: (q, k, { w_a }) => dot(turned(q, w_a), k),
  additive: (q, k, { w_aq, w_ak, v_a }) => dot(together(turned(q, w_aq), turned(k, w_ak)).map(Math.tanh), v_a),
};
