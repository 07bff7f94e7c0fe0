// How things move: from one number to another, and with what ease.
export const clamp = (x, least = 0, most = 1) => Math.min(most, Math.max(least, x));
export const between = (from, to, share) => from + (to - from) * share;
export const easeInOut = (x) => (x < 0.5 ? 4 * x ** 3 : 1 - (2 - 2 * x) ** 3 / 2);
export const easeOut = (x) => 1 - (1 - x) ** 3;
export const settle = (x) => (x >= 1 ? 1 : 1 + 2.2 * (x - 1) ** 3 + 1.2 * (x - 1) ** 2); // a little too far, then home

// Numbers on their way; those that are infinite, or of another count, are there at once.
export function blendArrays(from, to, share) {
  if (!from || from.length !== to.length) return to;
  return Float64Array.from(to, (number, i) => {
    const start = from[i];
    return Number.isFinite(start) && Number.isFinite(number) ? between(start, number, share) : number;
  });
}

export function blendTables(from, to, share) {
  const blended = {};
  for (const [name, number] of Object.entries(to))
    blended[name] = name in from ? between(from[name], number, share) : number;
  return blended;
}

export const finite = (number) => (Number.isFinite(number) ? number : 0);

// Whether nothing may move: the states are the same, without the ways between them.
export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
