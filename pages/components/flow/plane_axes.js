// The plane in which vectors are drawn: two directions at right angles. Of vectors with two numbers it is all there is;
// of longer ones it shows a part, and says how large the rest is.
import { sum } from "./twin.js";

export const dotProduct = (one, other) => sum(one.length, (m) => one[m] * other[m]);
export const combined = (one, factor, other) => Array.from(one, (number, m) => number + factor * other[m]);

// Two directions of length 1 at right angles, as close to those that are wanted as there are; of vectors with one
// number the second is none.
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

export const inPlane = (vector, [across, up]) => [dotProduct(vector, across), dotProduct(vector, up)];

// A vector whose part in the plane is another; what the plane does not show of it stays.
export function movedInPlane(vector, [x, y], [across, up]) {
  const [oldX, oldY] = inPlane(vector, [across, up]);
  return combined(combined(vector, x - oldX, across), y - oldY, up);
}

// The share of a vector's squared length that the plane does not show.
export function shareOutside(vector, plane) {
  const whole = dotProduct(vector, vector);
  const [x, y] = inPlane(vector, plane);
  return whole > 0 ? Math.max(0, 1 - (x * x + y * y) / whole) : 0;
}

// What a score has of what the plane does not show: the rest of the product.
export function productOutside(one, other, plane) {
  const [x, y] = inPlane(one, plane);
  const [otherX, otherY] = inPlane(other, plane);
  return dotProduct(one, other) - (x * otherX + y * otherY);
}

// 1, 2 or 5 times a power of ten, near to a number.
export function roundGap(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10]
    .map((factor) => factor * power)
    .reduce((best, each) => (Math.abs(each - number) < Math.abs(best - number) ? each : best));
}

export const spellRound = (number) => String(Number(number.toPrecision(6))).replace("-", "−");
