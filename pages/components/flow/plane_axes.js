// Computes the plane onto which vectors are projected for drawing, spanned by two orthogonal directions.
// Vectors of two components need no projection.
// For longer vectors, the projection is drawn, and the length of the part outside the plane is computed.
import { plain } from "../rounded.js";
import { sum } from "./twin.js";

/** @type {(one: ArrayLike<number>, other: ArrayLike<number>) => number} */
export const dotProduct = (one, other) => sum(one.length, (m) => one[m] * other[m]);
/** one + factor · other @type {(one: ArrayLike<number>, factor: number, other: ArrayLike<number>) => number[]} */
export const combined = (one, factor, other) => Array.from(one, (number, m) => number + factor * other[m]);

/**
 * Two orthonormal directions from the wanted ones by Gram-Schmidt, filled up with coordinate axes; the second direction
 * is 0 for vectors with one number.
 * @param {ArrayLike<number>[]} wanted
 * @param {number} width the number of numbers in a vector
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
 * Moves a vector within a plane; its part orthogonal to the plane stays.
 * @param {ArrayLike<number>} vector
 * @param {number[]} point its new coordinates in the plane
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

/** The number nearest to a given one that is 1, 2, 5 or 10 times a power of ten. @param {number} number */
export function roundGap(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10]
    .map((factor) => factor * power)
    .reduce((best, each) => (Math.abs(each - number) < Math.abs(best - number) ? each : best));
}

/** @type {(number: number) => string} */
export const spellRound = (number) => plain(Number(number.toPrecision(6)));
