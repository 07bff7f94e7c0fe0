// Draws the vectors of one step; each moves from the vector that it is computed from to its final position.
// In the query's lane, below the rows of the keys, the name of the step is below its vector.
import { between, clamp, easeInOut } from "../motion.js";
import { legible, textWidth } from "../words.js";
import { drawMerge } from "./merge.js";
import { drawVector } from "./strips.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const LANE_NAME_PX = 15;

/**
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} share how much of the part is drawn, from 0 to 1
 */
export function drawVectors(picture, part, share) {
  const count = part.role === "lane" ? 1 : picture.rows;
  for (let row = 0; row < count; row++) {
    const own =
      part.role === "lane"
        ? share
        : part.role === "pairs"
          ? picture.turn(share, row)
          : clamp(share * 1.4 - (0.4 * row) / count);
    if (own <= 0) continue;
    const nearness = part.role === "lane" ? 1 : picture.nearness(row);
    if (part.merges && own < 1) drawMerge(picture, part, own);
    else drawVector(picture, part, row, wayInto(picture, part, row, easeInOut(own)), clamp(own * 3) * nearness);
  }
  if (part.role === "lane") drawLaneName(picture, part, share);
}

// Returns the position of a vector on its way from the vector that it is computed from to its final position.
function wayInto(picture, part, row, share) {
  const { x } = picture.layout;
  const source = part.reads.find((name) => picture.has(name));
  const to = { x: x[part.name], y: picture.y(part, row) };
  if (!source || share >= 1) return to;
  const from = picture.byName.get(source);
  const sourceRow = from.role === "lane" ? 0 : part.role === "lane" ? picture.layout.laneBehind : row;
  return { x: between(x[source], to.x, share), y: between(picture.y(from, sourceRow), to.y, share) };
}

function drawLaneName(picture, part, share) {
  const { x, w, laneY, frame } = picture.layout;
  if (frame.compact && !part.after) return;
  const size = legible(LANE_NAME_PX * picture.unit);
  const at = { x: x[part.name] + w[part.name] / 2, y: laneY + 26 * picture.unit, "font-size": size };
  // a single name for the merged columns of all heads
  const names = part.merges ? [part.short] : [part.label, part.short];
  const text = names.find((each) => hasRoomFor(picture, part, each, size)) ?? "";
  picture.put(
    "texts", "text", `lane ${part.name}`,
    { ...at, class: `name ${part.family}`, text, opacity: clamp(share * 3 - 2) },
    { head: part.opens },
  );
}

// Returns whether the name of a vector fits between the neighbouring vectors of the query's lane.
function hasRoomFor(picture, part, name, size) {
  const { x, w, parts } = picture.layout;
  const middle = ({ name }) => x[name] + w[name] / 2;
  const others = parts.filter((other) => other.role === "lane" && other !== part);
  const room = Math.min(...others.map((other) => Math.abs(middle(other) - middle(part))));
  return textWidth(name, size, 700) + 6 * picture.unit <= room;
}
