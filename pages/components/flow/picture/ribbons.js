// Draws ribbons from the values to the output, each as wide as its attention weight.
// The ribbon of a negative weight is only an outline.
import { addedShape, setAttributes } from "../../dom.js";
import { between, clamp, easeInOut } from "../motion.js";
import { legible, said, spellPercent, textWidth } from "../words.js";
import { changeOf } from "./glow.js";
import { topOf } from "./shares.js";
import { drawVector } from "./strips.js";

/** @typedef {import("./picture.js").Drawn} Drawn */

export const TELLING_SHARE = 0.045; // smallest attention weight whose percentage is shown
const LEAST_CHANGE = 12; // px: least font size of a percentage that has just changed
const THIN = 6; // px: a ribbon up to this width hides no text
const BEFORE_PX = 13; // font size at unit 1 of the percentage before a change, below the new one
const TOGETHER_PX = 19; // font size at unit 1 of the summed weight of all other words
const LEAST_STRAND = 3; // px: least width of a strand of the ribbon of all other words

/** @param {Drawn} picture */
export function drawRibbons(picture) {
  const { share, shares, parts } = picture.snapshot;
  const mixer = parts.find((part) => part.mixes);
  if (!mixer || !picture.has(mixer.name) || picture.come(mixer) <= 0) return;
  const values = mixer.reads.map((name) => picture.byName.get(name)).find((part) => part?.role === "row");
  if (!values) return;
  const { x, w, laneY, stick, headHeight } = picture.layout;
  const start = x[share.name] + w[share.name];
  const end = x[mixer.name] - 16 * picture.unit;
  const passed = picture.has(values.name) ? x[values.name] + w[values.name] : start;
  const bend = passed + Math.min(64 * picture.unit, (end - passed) * 0.34);
  const revealed = easeInOut(clamp(picture.come(mixer) / 0.75));
  picture.arrival.set({ x1: bend, x2: end });
  const width = Math.max(0, (end + 10 * picture.unit - start) * revealed);
  const above = headHeight - 60 * picture.unit;
  picture.clip.set({ x: start, y: above, width, height: picture.layout.frame.height - above });
  const total = shares.reduce((one, other) => one + Math.abs(other), 0);
  let arrives = laneY - (stick * total) / 2;
  const labels = [];
  for (let row = 0; row < picture.rows; row++) {
    const width = Math.abs(shares[row]) * stick;
    const leaves = topOf(picture, row, width);
    drawRibbon(picture, row, { start, bend, end, leaves, arrives, width });
    if (picture.isRest(row)) drawStrands(picture, { start, bend, end, leaves, arrives, width });
    if (revealed > 0.04 && revealed < 1 && Math.abs(shares[row]) > 0.03)
      drawFlyingValue(picture, values, row, { passed, bend, end, arrives, width }, revealed);
    const opacity = clamp(revealed * 3 - 1);
    if (picture.isRest(row)) drawTogether(picture, start, leaves + width / 2, opacity);
    else labels.push(...percentsOf(picture, row, { passed, bend, top: leaves, width }, opacity));
    arrives += width;
  }
  drawPercents(picture, labels);
  const box = { x: end, y: laneY - (stick * total) / 2, width: 5 * picture.unit, height: stick * total, rx: 2 };
  picture.put("ribbons", "rect", "stick", {
    ...box, class: "stick", opacity: clamp(picture.come(mixer) * 3 - 1.6),
  });
}

function drawRibbon(picture, row, { start, bend, end, leaves, arrives, width }) {
  const hair = Math.max(0.9, width);
  const half = (bend + end) / 2;
  const there = `H${bend}C${half},${leaves} ${half},${arrives} ${end},${arrives}`;
  const [lower, upper] = [arrives + hair, leaves + hair];
  const back = `V${lower}C${half},${lower} ${half},${upper} ${bend},${upper}H${start}Z`;
  const share = picture.snapshot.shares[row];
  const strength = between(0.34, 0.92, clamp(Math.abs(share) * 3));
  picture.put(
    "ribbons", "path", `ribbon ${row}`,
    {
      d: `M${start},${leaves}${there}${back}`, class: `ribbon${share < 0 ? " taken" : ""}`, fill: picture.arrival.url,
      opacity: strength * picture.nearness(row),
    },
    { ribbon: row },
  );
}

// Divides the ribbon of all other words into strands, one for each word or, of too many words, as many as can be seen.
function drawStrands(picture, { start, bend, end, leaves, arrives, width }) {
  const half = (bend + end) / 2;
  const count = Math.min(picture.restCount, Math.floor(width / LEAST_STRAND));
  const between = Array.from({ length: Math.max(0, count - 1) }, (_, i) => {
    const [from, to] = [leaves, arrives].map((top) => top + (width * (i + 1)) / count);
    return `M${start},${from}H${bend}C${half},${from} ${half},${to} ${end},${to}`;
  });
  picture.put("ribbons", "path", "strands", { d: between.join(""), class: "strands" });
}

// Writes the summed weight of all other words on their ribbon.
function drawTogether(picture, start, y, opacity) {
  if (![null, picture.rows - 1].includes(picture.hovered)) return;
  const text = said(picture.together, { percent: spellPercent(picture.snapshot.shares.at(-1)) });
  const at = { x: start + 12 * picture.unit, y: y + 1, "font-size": legible(TOGETHER_PX * picture.unit), opacity };
  picture.put("texts", "text", "together", { ...at, class: "percent inside together", text });
}

function drawFlyingValue(picture, values, row, { passed, bend, end, arrives, width }, revealed) {
  const x = between(passed, end, revealed);
  const bent = clamp((x - bend) / (end - bend));
  const y = between(picture.layout.rowY[row], arrives + width / 2, bent * bent * (3 - 2 * bent));
  drawVector(picture, values, row, { x: x - picture.layout.w[values.name] * 0.7, y }, clamp((1 - revealed) * 4), {
    layer: "marks",
  });
}

// Returns the labels of an attention weight: the percentage inside its ribbon if that fits before the bend, else above.
// A weight that has just changed has its old percentage inside the ribbon, too, or "old → new" above it.
// Returns [] for a small, unchanged weight while no row is hovered, and for every weight while another row is hovered.
function percentsOf(picture, row, { passed, bend, top, width }, opacity) {
  const { share: part, shares } = picture.snapshot;
  const share = shares[row];
  const change = changeOf(picture, part, row, spellPercent);
  const tells =
    picture.hovered === row || (picture.hovered === null && (Math.abs(share) >= TELLING_SHARE || change !== null));
  if (!tells || opacity <= 0) return [];
  const [size, small] = [legible(24 * picture.unit), Math.max(LEAST_CHANGE, BEFORE_PX * picture.unit)];
  const percent = spellPercent(share);
  const x = passed + 12 * picture.unit;
  const isInside = width > size + (change ? 1.8 * small : 0) && x + textWidth(percent, size) < bend + size;
  const label = { row, share, key: `percent ${row}` };
  if (!isInside) {
    const outside = Math.max(change ? LEAST_CHANGE : 0, legible(16 * picture.unit));
    const [above, below] = [top - 10 * picture.unit, top + width + 8 * picture.unit];
    const y = isOnRibbon(picture, above, outside) ? below : above;
    const at = { x, y, "font-size": outside, opacity };
    return [{ ...label, at, look: "percent", text: change?.both ?? percent }];
  }
  const look = `percent${share > 0 ? " inside" : ""}`;
  const middle = top + width / 2 + 1;
  const at = { x, y: change ? middle - 0.7 * small : middle, "font-size": size, opacity };
  if (!change) return [{ ...label, at, look, text: percent }];
  const below = { x, y: middle + size / 2 + 0.3 * small, "font-size": small, opacity };
  const before = { ...label, key: `before ${row}`, at: below, look: `${look} before`, isPart: true };
  return [{ ...label, at, look, text: percent }, { ...before, text: picture.saysBefore(change.old) }];
}

// Returns whether a text at a height would lie on a ribbon, before the ribbons bend; a thin one is only a line.
function isOnRibbon(picture, y, size) {
  return picture.snapshot.shares.some((share, row) => {
    const width = Math.abs(share) * picture.layout.stick;
    const top = topOf(picture, row, width);
    return width > THIN && top < y + size / 2 && top + width > y - size / 2;
  });
}

// Draws the percentages of the attention weights, the largest first; one that would overlap another is omitted.
function drawPercents(picture, labels) {
  const drawn = [];
  for (const { key, at, look, text, isPart } of labels.sort((one, other) => sizeOf(other) - sizeOf(one))) {
    if (!isPart && drawn.some(({ y, size }) => Math.abs(y - at.y) < 0.6 * (size + at["font-size"]))) continue;
    drawn.push({ y: at.y, size: at["font-size"] });
    picture.put("texts", "text", key, { ...at, class: look, text });
  }
}

const sizeOf = ({ share }) => Math.abs(share);

/** Creates the clip path that reveals the ribbons from the left. @param {SVGElement} svg */
export function clipOf(svg) {
  return resourceOf(svg, "clipPath", (clip) => addedShape(clip, "rect"));
}

/**
 * Creates the gradient of the ribbons, from the colour of shares to that of values.
 * @param {SVGElement} svg
 */
export function arrivalOf(svg) {
  return resourceOf(svg, "linearGradient", (gradient) => {
    addedShape(gradient, "stop", { offset: 0, class: "leaving" });
    addedShape(gradient, "stop", { offset: 1, class: "arriving" });
    setAttributes(gradient, { gradientUnits: "userSpaceOnUse", y1: 0, y2: 0 });
    return gradient;
  });
}

// Creates an SVG clip path or gradient; returns { url, set }: its CSS reference and a setter of attributes.
// fill: a function that adds the content of the clip path or gradient, and returns the element whose attributes change.
function resourceOf(svg, kind, fill) {
  const id = `${kind}-${Math.random().toString(36).slice(2)}`;
  const changing = fill(addedShape(svg, kind, { id }));
  return { url: `url(#${id})`, set: (attributes) => setAttributes(changing, attributes) };
}
