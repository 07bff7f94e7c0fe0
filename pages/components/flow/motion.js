/**
 * Limits a number to the range from `least` to `most`.
 * @type {(x: number, least?: number, most?: number) => number}
 */
export const clamp = (x, least = 0, most = 1) => Math.min(most, Math.max(least, x));
/** Interpolates between two numbers. @type {(from: number, to: number, share: number) => number} */
export const between = (from, to, share) => from + (to - from) * share;
/** Easing: slow, fast, slow. @type {(share: number) => number} */
export const easeInOut = (x) => (x < 0.5 ? 4 * x ** 3 : 1 - (2 - 2 * x) ** 3 / 2);
/** Easing: fast, then slow. @type {(share: number) => number} */
export const easeOut = (x) => 1 - (1 - x) ** 3;
/** Easing: overshoots a little, then returns. @type {(share: number) => number} */
export const settle = (x) => (x >= 1 ? 1 : 1 + 2.2 * (x - 1) ** 3 + 1.2 * (x - 1) ** 2);

/**
 * Interpolates between two lists of numbers. Infinite numbers, and lists of different lengths, change at once.
 * @param {Float64Array | undefined} from
 * @param {Float64Array} to
 * @param {number} share
 * @returns {Float64Array}
 */
export function blendArrays(from, to, share) {
  if (!from || from.length !== to.length) return to;
  return Float64Array.from(to, (number, i) => {
    const start = from[i];
    return Number.isFinite(start) && Number.isFinite(number) ? between(start, number, share) : number;
  });
}

/**
 * @param {Record<string, number>} from
 * @param {Record<string, number>} to
 * @param {number} share
 */
export function blendTables(from, to, share) {
  const blended = {};
  for (const [name, number] of Object.entries(to))
    blended[name] = name in from ? between(from[name], number, share) : number;
  return blended;
}

/** The number, or 0 if it is infinite or NaN. @type {(number: number) => number} */
export const finite = (number) => (Number.isFinite(number) ? number : 0);

/** Whether the visitor prefers reduced motion: then states change without animation. @type {() => boolean} */
export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
