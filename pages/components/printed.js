// Texts and numbers as they stand on a drawn map.
import { printed } from "./rounded.js";

/** The digits that the data carries; all of them are seen where a cell is opened. @param {number} value */
export function digits(value) {
  return printed(String(Number(value.toPrecision(7))));
}

/**
 * A template with its {names} filled in, in one pass: what is filled in is not read again.
 * @type {(template: string, values: Record<string, string | number>) => string}
 */
export function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/**
 * The characters of a text as a reader counts them.
 * @param {string} text
 * @returns {string[]}
 */
export function letters(text) {
  return Array.from(new Intl.Segmenter().segment(text), (part) => part.segment);
}

// A character as wide as it is high: Chinese, Japanese, Korean, full-width signs.
export const WIDE = new RegExp(
  "[\\u1100-\\u115f\\u2e80-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6" +
    "\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}]",
  "u",
);
