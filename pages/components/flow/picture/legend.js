// Draws the legend of the colours of numbers in the free corner above the ribbons.
import { legible, textWidth } from "../words.js";

/** @typedef {import("./picture.js").Drawn} Drawn */

const [TEXT_PX, BOX_PX] = [13.5, 12]; // font size and box size in px at unit 1
const [TO_TEXT, TO_NEXT] = [5, 14]; // px at unit 1 from a box to its text, and from a text to the next box

/**
 * Draws the legend unless a column stands where it would be.
 * @param {Drawn} picture
 */
export function drawLegend(picture) {
  const { unit, legend, columns, layout: { x, w, frame } } = picture;
  const size = legible(TEXT_PX * unit);
  const kinds = Object.keys(legend);
  const widths = kinds.map((kind) => (BOX_PX + TO_TEXT + TO_NEXT) * unit + textWidth(legend[kind], size));
  let left = frame.width - 4 * unit - widths.reduce((one, other) => one + other, -TO_NEXT * unit);
  const ends = columns.map((part) => x[part.name] + w[part.name] / 2 + textWidth(part.sign, 19 * unit, 700) / 2);
  if (Math.max(...ends) + TO_NEXT * unit > left) return;
  const y = size;
  kinds.forEach((kind, i) => {
    const side = BOX_PX * unit;
    const box = { x: left, y: y - side / 2, width: side, height: side, rx: 2.5 * unit };
    const isZero = kind === "zero";
    picture.put("lane", "rect", `legend ${kind}`, {
      ...box, class: `cell x ${isZero ? "plus" : kind}`, "fill-opacity": isZero ? 0.03 : 0.92,
    });
    const at = { x: left + side + TO_TEXT * unit, y, "font-size": size };
    picture.put("texts", "text", `legend ${kind}`, { ...at, class: "aside", text: legend[kind] });
    left += widths[i];
  });
}
