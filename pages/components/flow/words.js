// Words and elements of the picture: what is written, in which colour, and how wide it is.
import { fixed, percentDigits, wholePercentDigits } from "../rounded.js";

/**
 * A template cut at its {names}, as pairs of a text and a class; parts: the pair of each name.
 * @param {string} template
 * @param {Record<string, string[]>} parts
 * @returns {string[][]}
 */
export function fill(template, parts) {
  return template.split(/(\{\w+\})/).map((text) => parts[text.slice(1, -1)] ?? [text, ""]);
}

/**
 * A template with a text for each of its {names}.
 * @param {string} template
 * @param {Record<string, string | number>} texts
 * @returns {string}
 */
export function said(template, texts) {
  const pairs = Object.entries(texts).map(([name, text]) => [name, [String(text)]]);
  const parts = fill(template, Object.fromEntries(pairs)).map(([text]) => text);
  return parts.map((text, at) => (String(parts[at - 1]) === "1" ? inSingular(text) : text)).join("");
}

// What follows a count of one: " heads" is " head". Chinese has one form for any count.
const inSingular = (text) => text.replace(/^ (head|word|token|key|row)s\b/, " $1");

/** Whether two values are the same as JSON. @type {(one: unknown, other: unknown) => boolean} */
export const isAlike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * The sign stands apart from its number, except on a Chinese page.
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
 * A share in a picture of a model or a lesson, where there is room for few digits.
 * @type {(share: number) => string}
 */
export const spellWholePercent = (share) => percentText(share, wholePercentDigits);

/** @type {(number: number) => string} */
export const spellNumber = fixed;

export const widths = new Map(); // of a text at 100 px: it is asked for in every frame
let measuring;
/**
 * The width of a text.
 * @param {string} text
 * @param {number} size px
 * @param {number} [weight] of the font
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
