// Fills text templates, and formats texts and numbers for the map of a matrix.
import { printed } from "./rounded.js";

/** A number with up to 7 significant digits, as many as a 32-bit float has. @param {number} value */
export function digits(value) {
  return printed(String(Number(value.toPrecision(7))));
}

/**
 * A template with its {names} replaced by values, in one pass: braces in a value are not replaced.
 * @type {(template: string, values: Record<string, string | number>) => string}
 */
export function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/**
 * The graphemes of a text: characters as a reader counts them.
 * @param {string} text
 * @returns {string[]}
 */
export function letters(text) {
  return Array.from(new Intl.Segmenter().segment(text), (part) => part.segment);
}

// Matches a character that is as wide as high: Chinese, Japanese, Korean, full-width symbols, emoji.
export const WIDE = new RegExp(
  "[\\u1100-\\u115f\\u2e80-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6" +
    "\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}]",
  "u",
);
