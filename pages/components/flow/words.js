// Makes the texts of the flow picture: filled templates, numbers as text, and the measured width of a text.
import { fixed, percentDigits, wholePercentDigits } from "../rounded.js";

/**
 * Splits a template at its {names}; returns pairs of a text and a class. parts: name -> its pair.
 * @param {string} template
 * @param {Record<string, string[]>} parts
 * @returns {string[][]}
 */
export function fill(template, parts) {
  return template.split(/(\{\w+\})/).map((text) => parts[text.slice(1, -1)] ?? [text, ""]);
}

/**
 * A template with its {names} replaced by texts.
 * @param {string} template
 * @param {Record<string, string | number>} texts
 * @returns {string}
 */
export function said(template, texts) {
  const pairs = Object.entries(texts).map(([name, text]) => [name, [String(text)]]);
  const parts = fill(template, Object.fromEntries(pairs)).map(([text]) => text);
  return parts.map((text, at) => (String(parts[at - 1]) === "1" ? inSingular(text) : text)).join("");
}

// Turns a counted noun after the number 1 into the singular: " heads" becomes " head". Chinese needs no change.
const inSingular = (text) => text.replace(/^ (head|word|token|key|row)s\b/, " $1");

/**
 * Splits a text at its indices, as in "X W_q"; returns pairs of a text and a class, which is "index" for an index.
 * @param {string} text
 * @returns {string[][]}
 */
export const withIndices = (text) =>
  text.split(/_(\w+)/).map((each, i) => [each, i % 2 ? "index" : ""]).filter(([each]) => each);

/**
 * The name of a token beside dots and numbers, where a sign alone, such as a comma, would look like a speck: in quotes.
 * @type {(token: string) => string}
 */
export const quotedSign = (token) => (/[\p{L}\p{N}]/u.test(token.replace(/#\d+$/, "")) ? token : `“${token}”`);

/** Whether two values are the same as JSON. @type {(one: unknown, other: unknown) => boolean} */
export const isAlike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * A share as a percentage; a space precedes the sign, except on a Chinese page.
 * @param {number} share
 * @param {(share: number) => string} digits
 */
function percentText(share, digits) {
  const sign = document.documentElement.lang.startsWith("zh") ? "%" : " %";
  return `${share < 0 ? "−" : ""}${digits(Math.abs(share))}${sign}`;
}

/** @type {(share: number) => string} */
export const spellPercent = (share) => percentText(share, percentDigits);

/**
 * A share as a percentage in a picture of a model or a lesson, with few digits.
 * @type {(share: number) => string}
 */
export const spellWholePercent = (share) => percentText(share, wholePercentDigits);

/** @type {(number: number) => string} */
export const spellNumber = fixed;

export const LEAST_LABEL = 11; // px: no text of a picture has a smaller font

/** The size of a font, in px, that is not smaller than LEAST_LABEL. @type {(size: number) => number} */
export const legible = (size) => Math.max(LEAST_LABEL, size);

/**
 * A word cut to fit a width, with "…"; only "…" if not even one character fits.
 * @type {(word: string, width: number, size: number, weight?: number) => string}
 */
export function shortened(word, width, size, weight = 400) {
  const isWide = (text) => textWidth(text, size, weight) > width - 4;
  if (!isWide(word)) return word;
  let text = word;
  while (text.length > 1 && isWide(`${text}…`)) text = text.slice(0, -1);
  return isWide(`${text}…`) ? "…" : `${text}…`;
}

export const widths = new Map(); // weight and text -> width at 100 px, cached because every frame needs it
let measuring;
/**
 * The width of a text in the font of the page.
 * @param {string} text
 * @param {number} size px
 * @param {number} [weight] the weight of the font
 * @returns {number} px
 */
export function textWidth(text, size, weight = 400) {
  const key = `${weight} ${text}`;
  if (!widths.has(key)) {
    measuring ??= document.createElement("canvas").getContext("2d");
    measuring.font = `${weight} 100px ${getComputedStyle(document.body).fontFamily}`;
    if (widths.size > 5000) widths.clear();
    widths.set(key, measuring.measureText(text).width);
  }
  return (widths.get(key) * size) / 100;
}
