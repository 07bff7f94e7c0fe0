// Draws connecting lines ("threads") from each vector, score or weight to what is computed from it.
import { LEGIBLE_ROW } from "../layout.js";
import { clamp, easeInOut } from "../motion.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const MANY_ROWS = 12; // most rows with connecting lines in the full colour; with more, finished lines are fainter

/**
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} share how much of the part is drawn, from 0 to 1
 */
export function drawThreads(picture, part, share) {
  for (const name of part.reads) {
    const from = picture.byName.get(name);
    if (!from || !picture.has(name)) continue;
    if (part.role === "lane") drawLaneThread(picture, from, part, share);
    else
      for (let row = 0; row < picture.rows; row++)
        if (!picture.isRest(row)) drawRowThread(picture, from, part, row, share);
  }
}

function drawLaneThread(picture, from, part, share) {
  const { x, w, laneY, laneBehind } = picture.layout;
  const start = x[from.name] + w[from.name];
  const end = x[part.name];
  const isOwn = from.role === "lane";
  const path = isOwn ? line(start, laneY, end) : curve(start, picture.y(from, laneBehind), end, laneY);
  const color = isOwn ? from.family : part.family;
  putThread(
    picture, `${from.name} ${part.name}`, path, `${color}${isOwn ? "" : " strong"}`, isOwn || !part.after ? 0.9 : 0.3,
    easeInOut(share),
  );
}

function drawRowThread(picture, from, part, row, share) {
  const { x, w, laneY, rowY, rowHeight } = picture.layout;
  const middle = (name) => x[name] + w[name] / 2;
  const isBar = (other) => other.role === "pair" && !other.is_share;
  const key = `${from.name} ${part.name} ${row}`;
  const nearness = picture.nearness(row);
  const start = isBar(from)
    ? picture.numberEnds.get(`${from.name} ${row}`) ?? middle(from.name)
    : x[from.name] + w[from.name];
  if (from.role === "lane") {
    const resting = picture.rows > MANY_ROWS && !picture.isActive(part) ? 0.35 : 0.62;
    const drawn = picture.turn(share, row);
    const end = x[part.name] - 7 * picture.unit;
    putThread(picture, key, curve(start, laneY, end, rowY[row]), from.family, resting * nearness, drawn);
    const dot = { cx: end, cy: rowY[row], r: Math.min(4.5 * picture.unit, Math.max(1, rowHeight[row] / 3)) };
    picture.put("marks", "circle", `meets ${key}`, {
      ...dot, class: "meets", opacity: nearness * clamp(drawn * 4 - 3),
    });
    return;
  }
  if (part.role === "row" && part.column - from.column > 1) {
    if (rowHeight[row] > LEGIBLE_ROW * 0.6) drawFarThread(picture, key, from, part, row, share);
    return;
  }
  const meets = part.reads.some((name) => picture.byName.get(name)?.role === "lane");
  const end = !isBar(part) ? x[part.name] : meets ? x[part.name] - 7 * picture.unit : middle(part.name);
  const faded = picture.snapshot.blocked[row] && (part.is_share || part.motion === "mask") ? 0.12 : 0.55;
  const color =
    part.role === "pair" ? (from.role === "pair" ? (part.is_share ? "share" : "x") : from.family) : part.family;
  putThread(
    picture, key, line(Math.min(start, end), rowY[row], end), color,
    faded * nearness,
    meets ? picture.turn(share, row) : easeInOut(share),
  );
}

// Draws a dotted line from a word vector x to the value v, below the row's middle, past the columns between them.
function drawFarThread(picture, key, from, part, row, share) {
  const { x, w, rowY, rowHeight } = picture.layout;
  const [start, end, y] = [x[from.name] + w[from.name], x[part.name], rowY[row]];
  const low = y + rowHeight[row] * 0.36;
  const path = `M${start},${y}L${start + 6 * picture.unit},${low}H${end - 6 * picture.unit}L${end},${y}`;
  const strength = picture.isActive(part) || picture.hovered === row ? 0.9 : 0.3;
  picture.put("threads", "path", key, {
    d: path, class: `thread far ${part.family}`, opacity: share * strength * picture.nearness(row),
  });
}

// Draws a connecting line that is still growing; adds a finished line to the path of all lines with its style.
// The browser draws a path of many lines as fast as a single line.
function putThread(picture, key, d, look, opacity, drawn) {
  if (opacity <= 0.01 || drawn <= 0) return;
  if (drawn < 1) {
    picture.put("threads", "path", key, {
      d, class: `thread ${look}`, opacity, pathLength: 1, "stroke-dasharray": `${drawn.toFixed(3)} 1`,
    });
    return;
  }
  const kind = `${look} ${opacity}`;
  if (!picture.threads.has(kind)) picture.threads.set(kind, { look, opacity, paths: [] });
  picture.threads.get(kind).paths.push(d);
}

/** @param {Drawn} picture */
export function drawWholeThreads(picture) {
  for (const [kind, { look, opacity, paths }] of picture.threads) {
    picture.put("threads", "path", kind, { d: paths.join(""), class: `thread ${look}`, opacity });
  }
}

const line = (x, y, to) => `M${x},${y}H${to}`;

function curve(x0, y0, x1, y1) {
  const middle = (x0 + x1) / 2;
  return `M${x0},${y0}C${middle},${y0} ${middle},${y1} ${x1},${y1}`;
}
