// A head's weights as an image of one pixel a cell, which the browser enlarges.
import { element } from "../dom.js";
import { BLOCKED, pixels } from "../pixels.js";

export const LEVELS = 253; // colours of a scale; 255 is a blocked cell

// scale: "share" from 0 to reach, or "signed" from -reach to reach. allowed: of each cell, or of none.
export function mapImage(numbers, { rows, columns, reach, fills, scale = "share", allowed = [] }) {
  const height = (number) => (scale === "share" ? number / reach : (number / reach + 1) / 2);
  const codes = Uint8Array.from(numbers, (number, i) => {
    if (allowed.length && !allowed[i]) return BLOCKED;
    return Math.round(Math.min(1, Math.max(0, height(number))) * (LEVELS - 1));
  });
  return element("img", "map", {
    alt: "", draggable: false, src: pixels(codes, rows, columns, fills[scale]).toDataURL(),
  });
}
