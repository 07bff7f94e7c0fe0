// Computes positions and sizes in the flow picture: a column for each vector, score or weight, a row for each key.
// The query's lane is below the query's row, with the query's vectors at the left and the output at the right.
// If the ribbons from the values to the output would be short, columns left of them become narrow, as foldsOf says.
// All lengths are in pixels. `unit` is 1 on a page 1280 px wide and grows with the width.
import { between, blendArrays, blendTables } from "./motion.js";
import { totalOf } from "./twin.js";

/** @typedef {import("./model.js").Snapshot} Snapshot */
/** @typedef {import("./model.js").Part} Part */

/**
 * @typedef {object} Frame the size of the picture and of its parts, in pixels
 * @property {number} width
 * @property {number} height
 * @property {number} unit 1 on a page 1280 px wide, more on a wider one
 * @property {boolean} compact whether the picture is narrow, as on a phone
 * @property {boolean} crossed whether the keys are words of another sentence
 * @property {number} wordWidth the width of the words at the left
 * @property {number} wordSize the largest size of their font
 * @property {number} roleWidth the width of the select boxes of unknown words, beside the words; 0 without any
 * @property {number} endWidth the width of the output at the right
 * @property {(part: Part) => number} headWidth the width that the name of a column needs
 * @property {number} reserve the free width after the last column
 * @property {Set<string>} shown names of the parts that are drawn
 * @property {string[]} current names of the parts that the current stop makes
 * @property {{ row: number | "lane", height: number } | null} open the opened arithmetic: the row above it, its height
 */

/**
 * @typedef {object} Layout the positions and sizes of all parts, in pixels
 * @property {Record<string, number>} x left edge of each part
 * @property {Record<string, number>} w width of each part
 * @property {number} zoom the factor of the size of cells
 * @property {number} longest the width of the widest vector
 * @property {number} bar the length of the bar of the largest score, the same in each column
 * @property {Set<string>} folded parts that are drawn narrow
 * @property {Float64Array} rowY the middle of each row
 * @property {Float64Array} rowHeight
 * @property {number} laneY the middle of the lane, which holds the vectors of the query and the output
 * @property {number} laneHeight
 * @property {number} laneBehind the index of the row above the lane
 * @property {number} headHeight
 * @property {number} stick the total length of all shares
 * @property {number} openY the top of an opened cell's arithmetic
 * @property {number} openHeight
 * @property {Part[]} parts the drawn parts
 * @property {Frame} frame
 * @property {number} unit
 */

// Widths in px at unit 1: of a cell in a key's row, in the query's lane, and in the concatenated heads;
// further, of the gap between two cells, and of the widest vector.
export const STRIP = { cell: 14, lane: 17, merged: 9, gap: 2, longest: 118 };
const BAR_COLUMN = 74; // px at unit 1: width of a column of bars, one bar for each key's score
const FOLDED_COLUMN = 34; // px at unit 1: width of a column of bars that is narrowed for lack of space
const SHARE_COLUMN = 12; // px at unit 1: width of the column of attention weights, drawn as vertical sticks
const LEAST_LANE = 70; // px at unit 1: least height of the query's lane, with the names below its vectors
export const LEGIBLE_ROW = 25; // px at unit 1: if rows would be lower, keys with a small weight get the lowest rows
const STRONG_SHARE = 0.04;
// Zoom of the cells: it falls below SMALL only if columns do not fit with narrow gaps, and never below SMALLEST.
export const [SMALL, SMALLEST] = [0.8, 0.4];
const SMALLEST_COMPACT = 0.15; // smallest zoom on a phone, where a wide picture is drawn small instead of being cut off
const NARROWEST = 0.2; // least width of a gap, as a share of its normal width

// Least width of the ribbons: a share of the picture's width, or this many pixels in a wide enough picture.
const LEAST_RIBBON = { wide: 0.206, pixels: 250, narrow: 0.25, compact: 0.336 };
const MANY_NUMBERS = 4; // vectors with more numbers fold first
const FOLDED_STRIP = 34; // px at unit 1: width of a vector that is folded to save space

/**
 * Places all parts of a snapshot.
 * @param {Snapshot} snapshot
 * @param {Frame} frame
 * @returns {Layout}
 */
export function layOut(snapshot, frame) {
  const parts = snapshot.parts.filter((part) => frame.shown.has(part.name));
  const across = columns(snapshot, parts, frame);
  return { ...across, ...rows(snapshot, frame), frame, unit: frame.unit };
}

// ---- columns --------------------------------------------------------------------------------------------------------
/**
 * The parts of each slot, from the left. In a column each part with rows has its own slot, and the first part of the
 * lane shares the first slot. Other parts of the lane get the next slots; mixed values come first among lane parts.
 * @param {Part[]} parts
 * @returns {Part[][]}
 */
function slotsOf(parts) {
  const byColumn = new Map();
  for (const part of parts) byColumn.set(part.column, [...(byColumn.get(part.column) ?? []), part]);
  const slots = [];
  for (const column of [...byColumn.keys()].sort((one, other) => one - other)) {
    const here = byColumn.get(column);
    const lane = here.filter((part) => part.role === "lane");
    const wide = here.filter((part) => part.role !== "lane");
    // columns are sorted so that v comes after the attention weights
    wide.sort((one, other) => Number(one.role === "row") - Number(other.role === "row"));
    lane.sort((one, other) => other.mixes - one.mixes);
    const [first, ...others] = lane;
    wide.forEach((part, i) => slots.push(i || !first ? [part] : [part, first]));
    if (!wide.length) slots.push([first]);
    others.forEach((part) => slots.push([part]));
  }
  return slots;
}

/**
 * The gap before a slot: its least width, and its weight when the remaining width is distributed.
 * @param {Part[]} slot
 * @param {Part[] | undefined} before the slot at its left
 * @param {Frame} frame
 */
function gapBefore(slot, before, { unit, compact }) {
  if (!before) return { least: 8 * unit, share: 0 };
  const [part, was] = [slot[0], before[0]];
  if (slot.some(({ mixes }) => mixes)) return { least: 0, share: 5, isRibbon: true };
  if (part.role === "lane") return { least: 20 * unit, share: 0.4 };
  if (part.role === "row" && was.role === "pair") return { least: (compact ? 26 : 6) * unit, share: 0.1 };
  // a wide gap, because the lines between these columns spread like a fan
  if (part.role !== "row" && was.role === "row") return { least: (compact ? 30 : 54) * unit, share: 2 };
  return { least: (was.role === "pair" ? 8 : 24) * unit, share: 0.8 };
}

/**
 * The cells of a vector: { cell: width, gap, each: numbers per cell, count: number of cells }.
 * @param {Snapshot} snapshot
 * @param {Part} part
 * @param {{ unit: number, zoom: number, longest: number }} layout
 */
export function stripOf(snapshot, part, { unit, zoom, longest }) {
  const length = snapshot.numbers[part.name].length / (part.role === "lane" ? 1 : snapshot.shares.length);
  const usual = part.merges ? STRIP.merged : part.role === "lane" ? STRIP.lane : STRIP.cell;
  const widest = length > MANY_NUMBERS ? longest : STRIP.longest * unit * zoom;
  const full = Math.min(usual * unit * zoom, widest / length);
  const gap = full >= 6 ? STRIP.gap * unit : 0;
  const each = Math.max(1, Math.ceil(1.5 / full)); // numbers per cell; a cell shows its largest absolute value
  return { cell: full * each, gap, each, count: Math.ceil(length / each) };
}

/**
 * @typedef {object} Fold what is narrowed or left out, so that the columns fit
 * @property {boolean} strips whether vectors of many numbers are narrow strips
 * @property {number} gaps the factor of the gaps between columns
 * @property {number} bars the factor of the width of columns of bars
 * @property {Set<string>} gone parts that are not drawn
 */

/**
 * The folds, each narrower than the one before. First vectors of many numbers become strips; then gaps and bars shrink;
 * then, if there are ribbons, the scores give way that the last column of scores is computed from, and at the end
 * the concatenated heads; without ribbons, the columns of scores between the first and the last get narrow.
 * On a phone only that last column, the shares, the ribbons, the sum, and what the current stop makes, stand there.
 * @param {Part[]} parts
 * @param {Frame} frame
 * @param {boolean} hasRibbons
 * @returns {Fold[]}
 */
function foldsOf(parts, { compact, current }, hasRibbons) {
  const gone = new Set();
  if (!hasRibbons) return FOLDS.map((fold) => ({ ...fold, gone }));
  const scores = parts.filter((part) => part.role === "pair" && !part.is_share);
  const last = scores.at(-1)?.name;
  if (compact) {
    const stays = ({ name, is_share, mixes }) => is_share || mixes || name === last;
    const usual = parts.filter((part) => !stays(part) && !current.includes(part.name));
    const most = parts.filter((part) => !stays(part) && (part.role !== "lane" || !current.includes(part.name)));
    const all = parts.filter((part) => !stays(part));
    return [usual, most, all].map((leaves) => ({ ...PHONE_FOLD, gone: new Set(leaves.map(({ name }) => name)) }));
  }
  const folds = FOLDS.map((fold) => ({ ...fold, gone }));
  for (const { name } of [...scores.slice(0, -1), ...parts.filter((part) => part.merges)])
    folds.push({ ...folds[folds.length - 1], gone: new Set([...folds[folds.length - 1].gone, name]) });
  return folds;
}

const PHONE_FOLD = { strips: true, gaps: 1, bars: 1.3 };
const FOLDS = [
  { strips: false, gaps: 1, bars: 1 },
  { strips: true, gaps: 1, bars: 1 },
  { strips: true, gaps: 0.75, bars: 1 },
  { strips: true, gaps: 0.5, bars: 0.85 },
];

/**
 * The parts that are still drawn: they read the operands of left-out parts, and get the signs of left-out scores.
 * @param {Part[]} parts
 * @param {Set<string>} gone
 * @param {boolean} compact whether there is no room for more signs than one
 * @returns {Part[]}
 */
function withoutGone(parts, gone, compact) {
  if (!gone.size) return parts;
  const byName = new Map(parts.map((part) => [part.name, part]));
  const readsOf = (name) => (gone.has(name) ? byName.get(name)?.reads.flatMap(readsOf) ?? [] : [name]);
  const signOf = (part) => {
    const source = byName.get(part.reads.find((name) => gone.has(name)) ?? "");
    const isScore = (each) => each?.role === "pair" && !each.is_share;
    return !compact && isScore(part) && isScore(source) ? `${signOf(source)} ${part.sign}` : part.sign;
  };
  return parts
    .filter((part) => !gone.has(part.name))
    .map((part) => ({ ...part, sign: signOf(part), reads: [...new Set(part.reads.flatMap(readsOf))] }));
}

/** The least width of the ribbons. @param {Frame} frame */
function leastRibbon({ width, compact }) {
  if (compact) return LEAST_RIBBON.compact * width;
  return Math.max(LEAST_RIBBON.wide * width, Math.min(LEAST_RIBBON.pixels, LEAST_RIBBON.narrow * width));
}

/**
 * @param {Snapshot} snapshot
 * @param {Part} part
 * @param {any} sizes { unit, zoom, longest, bars, folded }
 */
function widthOf(snapshot, part, sizes) {
  const { unit, zoom, bars, folded } = sizes;
  if (folded.has(part.name)) return FOLDED_COLUMN * unit;
  if (part.is_share) return SHARE_COLUMN * unit;
  if (part.role === "pair") return BAR_COLUMN * unit * bars * Math.min(2, zoom * zoom);
  const { cell, gap, count } = stripOf(snapshot, part, sizes);
  return count * (cell + gap) - gap;
}

/**
 * @param {Snapshot} snapshot
 * @param {Part[]} drawn
 * @param {Frame} frame
 */
function columns(snapshot, drawn, frame) {
  const hasRibbons = drawn.some((part) => part.mixes);
  const most = frame.compact ? (hasRibbons ? 0.95 : 1.15) : hasRibbons ? 1.2 : 1.75;
  let attempt;
  for (const fold of foldsOf(drawn, frame, hasRibbons)) {
    attempt = tryOf(snapshot, drawn, frame, fold);
    if (attempt(SMALL).spare < 0) continue; // larger cells need more width
    for (let zoom = most; zoom > SMALL - 1e-6; zoom -= 0.05) {
      const placed = attempt(zoom);
      if (placed.spare >= 0) return put(placed, frame, hasRibbons);
    }
  }
  // Even with all columns folded (narrowed), the picture is too wide: its cells become smaller and its gaps narrower.
  let zoom = SMALL;
  let placed = attempt(zoom);
  while (placed.spare < -(1 - NARROWEST) * placed.least && zoom > (frame.compact ? SMALLEST_COMPACT : SMALLEST)) {
    zoom -= 0.05;
    placed = attempt(zoom);
  }
  return put(placed, frame, hasRibbons);
}

// Returns a function that computes the widths of all columns at a zoom, with the same columns folded (narrowed).
function tryOf(snapshot, drawn, frame, { strips, gaps: narrowed, bars, gone }) {
  const { width, unit, compact, wordWidth, roleWidth, endWidth, headWidth, reserve } = frame;
  const parts = withoutGone(drawn, gone, compact);
  const hasRibbons = parts.some((part) => part.mixes);
  const slots = slotsOf(parts);
  const gaps = slots.map((slot, i) => gapBefore(slot, slots[i - 1], frame));
  const inner = parts.filter((part) => part.role === "pair" && !part.is_share).slice(1, -1);
  const folded = new Set(bars < 1 && !hasRibbons ? inner.map((part) => part.name) : []);
  const isNamed = ({ role, name }) => role !== "lane" && !compact && narrowed === 1 && !folded.has(name);
  const heads = new Map(parts.map((part) => [part, isNamed(part) ? headWidth(part) : 0]));
  return (zoom) => {
    const longest = strips ? FOLDED_STRIP * unit : STRIP.longest * unit * zoom;
    const sizes = { unit, zoom, longest: Math.min(longest, STRIP.longest * unit * zoom), bars, folded };
    const w = Object.fromEntries(parts.map((part) => [part.name, widthOf(snapshot, part, sizes)]));
    const widths = slots.map((slot) => Math.max(...slot.map((part) => Math.max(w[part.name], heads.get(part)))));
    const leasts = gaps.map((gap) => (gap.isRibbon ? leastRibbon(frame) : gap.least * narrowed));
    const least = totalOf(leasts.filter((_, i) => !gaps[i].isRibbon));
    const air = least * Math.max(0, zoom * 0.9 - 1); // px: gaps are wider if cells are large
    const spare = width - wordWidth - roleWidth - (hasRibbons ? endWidth : 8 * unit + reserve) -
      totalOf(widths) - totalOf(leasts) - air;
    return { parts, slots, gaps, widths, leasts, least, spare, ...sizes, w };
  };
}

// Places the columns of an attempt, and distributes the width that is left over or missing.
function put({ parts, slots, gaps, widths, leasts, least, spare, zoom, longest, folded, w }, frame, hasRibbons) {
  const { unit, wordWidth, roleWidth } = frame;
  const growth = gaps.reduce((total, gap) => total + gap.share, 0);
  const squeeze = spare < 0 ? Math.max(NARROWEST, 1 + spare / least) : 1;
  const free = hasRibbons ? spare : Math.min(spare, 95 * unit * growth);
  const lacks = Math.max(0, -spare - (1 - squeeze) * least); // width that must be taken from the ribbons
  const x = {};
  let left = wordWidth + roleWidth;
  slots.forEach((slot, i) => {
    left += gaps[i].isRibbon ? Math.max(0, leasts[i] - lacks) : leasts[i] * squeeze;
    left += free > 0 && growth ? (free * gaps[i].share) / growth : 0;
    for (const part of slot) x[part.name] = left + (part.role === "lane" ? 0 : (widths[i] - w[part.name]) / 2);
    left += widths[i];
  });
  const bars = parts.filter((part) => part.role === "pair" && !part.is_share).map((part) => w[part.name] / 2);
  return { parts, x, w, zoom, longest, folded, bar: bars.length ? Math.min(...bars) : 0 };
}

// ---- rows -----------------------------------------------------------------------------------------------------------
/**
 * @param {Snapshot} snapshot
 * @param {Frame} frame
 */
function rows(snapshot, { height, unit, open }) {
  const { shares } = snapshot;
  const count = shares.length;
  const laneBehind = snapshot.asks;
  const headHeight = 50 * unit;
  const stick = Math.min(76 * unit, height * 0.16) * (open ? 0.72 : 1); // px: height of all attention weights stacked
  const laneHeight = Math.max(stick + 14 * unit, LEAST_LANE * unit);
  const openHeight = open ? open.height : 0;
  const room = height - headHeight - laneHeight - openHeight - 8 * unit;
  const rowHeight = heightsOfRows(room, unit, shares, laneBehind);
  const total = totalOf(rowHeight);
  const rowY = new Float64Array(count);
  let [y, laneY, openY] = [headHeight + Math.max(0, (room - total) / 2), 0, 0];
  for (let row = 0; row < count; row++) {
    rowY[row] = y + rowHeight[row] / 2;
    y += rowHeight[row];
    if (open && open.row === row) [openY, y] = [y, y + openHeight];
    if (row !== laneBehind) continue;
    laneY = y + laneHeight / 2;
    y += laneHeight;
    if (open && open.row === "lane") [openY, y] = [y, y + openHeight];
  }
  return { rowY, rowHeight, laneY, laneHeight, laneBehind, headHeight, stick, openY, openHeight };
}

/**
 * The heights of the rows: equal if that is legible; else rows with a strong share are higher than the others.
 * @param {number} room
 * @param {number} unit
 * @param {Float64Array} shares
 * @param {number} laneBehind
 */
function heightsOfRows(room, unit, shares, laneBehind) {
  const even = room / shares.length;
  if (even >= LEGIBLE_ROW * unit) return new Float64Array(shares.length).fill(Math.min(even, 78 * unit));
  const isStrong = Array.from(shares, (share, row) => row === laneBehind || Math.abs(share) > STRONG_SHARE);
  const strongCount = isStrong.filter(Boolean).length;
  const strong = Math.max(even, Math.min(28 * unit, (room * 0.6) / strongCount));
  const weak = (room - strong * strongCount) / Math.max(1, shares.length - strongCount);
  return Float64Array.from(isStrong, (is) => (is ? strong : weak));
}

// ---- animation ------------------------------------------------------------------------------------------------------
/**
 * Interpolates between two layouts.
 * @param {Layout} from
 * @param {Layout} to
 * @param {number} share
 * @returns {Layout}
 */
export function blendLayouts(from, to, share) {
  if (!from || share >= 1) return to;
  const blended = { ...to, x: blendTables(from.x, to.x, share), w: blendTables(from.w, to.w, share) };
  for (const name of ["rowY", "rowHeight"]) blended[name] = blendArrays(from[name], to[name], share);
  for (const name of ["laneY", "laneHeight", "stick", "zoom", "longest", "bar", "openY", "openHeight"]) {
    blended[name] = between(from[name], to[name], share);
  }
  return blended;
}
