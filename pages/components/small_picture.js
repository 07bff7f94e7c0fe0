// Draws small pictures from the lists of shapes of attention_core/drawing/small_pictures.py.
// A shape is [kind, colour, opacity, ...numbers]; the last item of a "text" shape is its text.
import { svgShape } from "./dom.js";

const DRAWN = {
  rect: ([x, y, width, height]) => ["rect", { x, y, width, height, rx: 1.5 }],
  frame: ([x, y, width, height]) => ["rect", { x, y, width, height, rx: 1.5 }],
  dot: ([cx, cy, r]) => ["circle", { cx, cy, r }],
  line: ([x1, y1, x2, y2, width]) => ["line", { x1, y1, x2, y2, "stroke-width": width }],
  path: (points) => ["polyline", { points: points.join(" "), "stroke-width": 3 }],
  arc: ([from, to, foot, height, width]) => [
    "path",
    { d: `M${from} ${foot} Q${(from + to) / 2} ${foot - height} ${to} ${foot}`, "stroke-width": width },
  ],
  text: ([x, y, size]) => [
    "text",
    { x, y, "font-size": size, "text-anchor": "middle", "dominant-baseline": "central" },
  ],
};
const FILLED = ["rect", "dot", "text"];

/**
 * @param {any[][]} shapes
 * @returns {SVGElement}
 */
export function drawPicture(shapes) {
  const picture = svgShape("svg", { viewBox: "0 0 160 90", "aria-hidden": "true" });
  for (const [kind, colour, strength, ...numbers] of shapes) {
    const [tag, attributes] = DRAWN[kind](numbers);
    const style = `${FILLED.includes(kind) ? "fill" : "stroke"}: var(--${colour}); opacity: ${strength}`;
    picture.append(svgShape(tag, { ...attributes, style }, kind === "text" ? numbers.at(-1) : undefined));
  }
  return picture;
}
