/**
 * Rounds a size to `figures` significant digits (half to even): returns its digits as a text, and its power of ten.
 * @param {number} size
 * @param {number} figures
 * @returns {[string, number]}
 */
function significant(size, figures) {
  const [exact, exactPower] = size.toExponential(100).split("e");
  const all = exact.replace(".", "");
  const kept = all.slice(0, figures);
  const isHalf = /^50*$/.test(all.slice(figures));
  if (isHalf && Number(kept.at(-1)) % 2 === 0) return [kept, Number(exactPower)];
  const [mantissa, power] = size.toExponential(figures - 1).split("e"); // toExponential rounds ties away from zero
  return [mantissa.replace(".", ""), Number(power)];
}

/**
 * A number rounded to `decimals` decimals (half to even), with a hyphen as its minus; a result of zero has no minus.
 * @type {(value: number, decimals: number) => string}
 */
export function rounded(value, decimals) {
  const size = Math.abs(value);
  let text = size.toFixed(decimals); // toFixed rounds ties away from zero
  const isHalf = (size * 2 ** (decimals + 1)) % 2 === 1;
  if (isHalf && Number(text.at(-1)) % 2 === 1)
    text = (Math.floor(size * 10 ** decimals) / 10 ** decimals).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `-${text}` : text;
}

/** A number's text with a true minus sign and at least two digits in an exponent. @param {string} text */
export function printed(text) {
  return text.replace(/^-/, "−").replace(/e([+-])(\d)$/, "e$10$2");
}

/** A number as it was typed or chosen, such as 1 or −0.5. @param {number | string} number */
export const plain = (number) => String(number).replace("-", "−");

/** A number with two decimals as shown in a cell; with an exponent from 100,000 on. @param {number} value */
export function fixed(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value < 0 ? "−∞" : "∞";
  if (Math.abs(value) < 1e5) return printed(rounded(value, 2));
  const [kept, power] = significant(Math.abs(value), 3);
  return printed(`${value < 0 ? "-" : ""}${kept[0]}.${kept.slice(1)}e+${power}`);
}

/** A number with two significant digits; with an exponent if it is less than 0.0001. @param {number} size */
export function twoDigits(size) {
  const [kept, power] = significant(size, 2);
  if (power < -4) return printed(`${kept[0]}${kept[1] === "0" ? "" : `.${kept[1]}`}e${power}`);
  return String(Number(`${kept}e${power - 1}`));
}

/**
 * A share in percent, without the sign: a whole number; two significant digits if it would be rounded to 0; <0.01 if it
 * is less; >99 if it would be rounded to 100.
 * @param {number} share
 * @returns {string}
 */
export function percentDigits(share) {
  if (share > 0 && 100 * share < 0.01) return "<0.01";
  const whole = rounded(100 * share, 0);
  if (whole === "0" && share > 0) return twoDigits(100 * share);
  return whole === "100" && share < 1 ? ">99" : whole;
}

/**
 * A share in percent for narrow places, as percentDigits, but <1 if it would be rounded to 0.
 * @param {number} share
 * @returns {string}
 */
export function wholePercentDigits(share) {
  return share > 0 && rounded(100 * share, 0) === "0" ? "<1" : percentDigits(share);
}
