// The plane in which vectors are drawn: two directions at right angles. Of vectors with two numbers it is all there is;
// of longer ones it shows a part, and says how large the rest is.
import { sum } from "./twin.js";

/** @type {(one: ArrayLike<number>, other: ArrayLike<number>) => number} */
export const dotProduct = (one, other) => sum(one.length, (m) => one[m] * other[m]);
/** one + factor · other @type {(one: ArrayLike<number>, factor: number, other: ArrayLike<number>) => number[]} */
export const combined = (one, factor, other) => Array.from(one, (number, m) => number + factor * other[m]);

/**
 * Two directions of length 1 at right angles, as close to the wanted ones as possible; of vectors with one number the
 * second is 0.
 * @param {ArrayLike<number>[]} wanted
 * @param {number} width numbers of a vector
 * @returns {number[][]}
 */
export function planeOf(wanted, width) {
  const axes = Array.from({ length: width }, (_, i) => Array.from({ length: width }, (_, m) => Number(m === i)));
  const found = [];
  for (const direction of [...wanted, ...axes]) {
    if (found.length === 2) break;
    let rest = Array.from(direction);
    for (const one of found) rest = combined(rest, -dotProduct(rest, one), one);
    const length = Math.sqrt(dotProduct(rest, rest));
    if (length > 1e-6 * (1 + Math.sqrt(dotProduct(direction, direction))))
      found.push(rest.map((number) => number / length));
  }
  while (found.length < 2) found.push(new Array(width).fill(0));
  return found;
}

/** The coordinates of a vector in a plane. @type {(vector: ArrayLike<number>, plane: number[][]) => number[]} */
export const inPlane = (vector, [across, up]) => [dotProduct(vector, across), dotProduct(vector, up)];

/**
 * A vector moved in a plane; what is at right angles to the plane stays.
 * @param {ArrayLike<number>} vector
 * @param {number[]} point where it then stands in the plane
 * @param {number[][]} plane
 */
export function movedInPlane(vector, [x, y], [across, up]) {
  const [oldX, oldY] = inPlane(vector, [across, up]);
  return combined(combined(vector, x - oldX, across), y - oldY, up);
}

/**
 * The share of a vector's squared length that the plane does not show.
 * @param {number[]} vector
 * @param {number[][]} plane
 */
export function shareOutside(vector, plane) {
  const whole = dotProduct(vector, vector);
  const [x, y] = inPlane(vector, plane);
  return whole > 0 ? Math.max(0, 1 - (x * x + y * y) / whole) : 0;
}

/**
 * The part of the product of two vectors that the plane does not show.
 * @param {number[]} one
 * @param {number[]} other
 * @param {number[][]} plane
 */
export function productOutside(one, other, plane) {
  const [x, y] = inPlane(one, plane);
  const [otherX, otherY] = inPlane(other, plane);
  return dotProduct(one, other) - (x * otherX + y * otherY);
}

/** 1, 2 or 5 times a power of ten, near to a number. @param {number} number */
export function roundGap(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10]
    .map((factor) => factor * power)
    .reduce((best, each) => (Math.abs(each - number) < Math.abs(best - number) ? each : best));
}

/** @type {(number: number) => string} */
export const spellRound = (number) => String(Number(number.toPrecision(6))).replace("-", "−");
