// Words and elements of the picture: what is written, in which colour, and how wide it is.
import { fixed, percentDigits, wholePercentDigits } from "../rounded.js";

// A template with its parts: [text, class] pairs; a part is { name } in the template.
export function fill(template, parts) {
  return template.split(/(\{\w+\})/).map((text) => parts[text.slice(1, -1)] ?? [text, ""]);
}

// A template with its texts, as one text.
export function said(template, texts) {
  const parts = fill(template, Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, [text]]))).map(
    ([text]) => text,
  );
  return parts.map((text, at) => (String(parts[at - 1]) === "1" ? inSingular(text) : text)).join("");
}

// What follows a count of one: " heads" is " head". Chinese has one form for any count.
const inSingular = (text) => text.replace(/^ (head|word|token|key|row)s\b/, " $1");

// Whether what is given says the same, part by part.
export const isAlike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// The sign stands apart from its number, except on a Chinese page.
function percentText(share, digits) {
  const sign = document.documentElement.lang.startsWith("zh") ? "%" : " %";
  return `${share < 0 ? "−" : ""}${digits(Math.abs(share))}${sign}`;
}

export const spellPercent = (share) => percentText(share, percentDigits);

// A share in a picture of a model or a lesson, where there is room for few digits.
export const spellWholePercent = (share) => percentText(share, wholePercentDigits);

export const spellNumber = fixed;

export const widths = new Map(); // of a text at 100 px: it is asked for in every frame
let measuring;
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
