// Computes positions and sizes in the flow picture: a column for each vector, score or weight, a row for each key.
// The query's lane lies below the query's row, with the query's vectors at the left and the output at the right.
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
 * @property {number} endWidth the width of the output at the right
 * @property {(part: Part) => number} headWidth the width that the name of a column needs
 * @property {number} reserve the free width after the last column
 * @property {Set<string>} shown names of the parts that are drawn
 * @property {{ row: number | "lane", height: number } | null} open the row above an unfolded sum, and the sum's height
 */

/**
 * @typedef {object} Layout the positions and sizes of all parts, in pixels
 * @property {Record<string, number>} x left edge of each part
 * @property {Record<string, number>} w width of each part
 * @property {number} zoom the factor of the size of cells
 * @property {Set<string>} folded parts that are drawn narrow
 * @property {Float64Array} rowY the middle of each row
 * @property {Float64Array} rowHeight
 * @property {number} laneY the middle of the lane, which holds the vectors of the query and the output
 * @property {number} laneHeight
 * @property {number} laneBehind the index of the row above the lane
 * @property {number} headHeight
 * @property {number} stick the total length of all shares
 * @property {number} openY the top of an unfolded sum
 * @property {number} openHeight
 * @property {Part[]} parts the drawn parts
 * @property {Frame} frame
 * @property {number} unit
 */

// px at unit 1: widths of a cell in a key's row, in the query's lane, and in the concatenated heads.
// The last two are the gap between cells and the widest vector.
export const STRIP = { cell: 14, lane: 17, merged: 9, gap: 2, longest: 118 };
const BAR_COLUMN = 74; // px at unit 1: width of a column of bars, one bar for each key's score
const FOLDED_COLUMN = 34; // px at unit 1: width of a column of bars that is narrowed for lack of space
const SHARE_COLUMN = 12; // px at unit 1: width of the column of attention weights, drawn as vertical sticks
export const LEGIBLE_ROW = 25; // px at unit 1: if rows would be lower, keys with a small weight get the lowest rows
const STRONG_SHARE = 0.04;
// Zoom of the cells: it falls below SMALL only if columns do not fit with narrow gaps, and never below SMALLEST.
export const [SMALL, SMALLEST] = [0.8, 0.4];
const SMALLEST_COMPACT = 0.15; // smallest zoom on a phone, because a wide picture is drawn small there, not cut off
const NARROWEST = 0.2; // least width of a gap, as a share of its usual width

/**
 * Places all parts of a snapshot.
 * @param {Snapshot} snapshot
 * @param {Frame} frame
 * @returns {Layout}
 */
export function layOut(snapshot, frame) {
  const parts = snapshot.parts.filter((part) => frame.shown.has(part.name));
  const across = columns(snapshot, parts, frame);
  return { ...across, ...rows(snapshot, frame), parts, frame, unit: frame.unit };
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
    wide.sort((one, other) => Number(one.role === "row") - Number(other.role === "row")); // puts v after the weights
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
  if (slot.some(({ mixes }) => mixes)) return { least: (compact ? 66 : 190) * unit, share: 5 }; // room for ribbons
  if (part.role === "lane") return { least: 20 * unit, share: 0.4 };
  if (part.role === "row" && was.role === "pair") return { least: (compact ? 26 : 6) * unit, share: 0.1 };
  if (part.role !== "row" && was.role === "row") return { least: (compact ? 30 : 54) * unit, share: 2 }; // fan of lines
  return { least: (was.role === "pair" ? 8 : 24) * unit, share: 0.8 };
}

/**
 * The cells of a vector: { cell: width, gap, each: numbers per cell, count: number of cells }.
 * @param {Snapshot} snapshot
 * @param {Part} part
 * @param {number} unit
 * @param {number} zoom
 */
export function stripOf(snapshot, part, unit, zoom) {
  const length = snapshot.numbers[part.name].length / (part.role === "lane" ? 1 : snapshot.shares.length);
  const usual = part.merges ? STRIP.merged : part.role === "lane" ? STRIP.lane : STRIP.cell;
  const full = Math.min(usual * unit * zoom, (STRIP.longest * unit * zoom) / length);
  const gap = full >= 6 ? STRIP.gap * unit : 0;
  const each = Math.max(1, Math.ceil(1.5 / full)); // numbers per cell; a cell shows its largest absolute value
  return { cell: full * each, gap, each, count: Math.ceil(length / each) };
}

/**
 * @param {Snapshot} snapshot
 * @param {Part} part
 * @param {Frame} frame
 * @param {number} zoom
 * @param {Set<string>} folded
 */
function widthOf(snapshot, part, { unit }, zoom, folded) {
  if (folded.has(part.name)) return FOLDED_COLUMN * unit;
  if (part.is_share) return SHARE_COLUMN * unit;
  if (part.role === "pair") return BAR_COLUMN * unit * Math.min(2, zoom * zoom);
  const { cell, gap, count } = stripOf(snapshot, part, unit, zoom);
  return count * (cell + gap) - gap;
}

/**
 * @param {Snapshot} snapshot
 * @param {Part[]} parts
 * @param {Frame} frame
 */
function columns(snapshot, parts, frame) {
  const { width, unit, compact, wordWidth, endWidth, headWidth, reserve } = frame;
  const slots = slotsOf(parts);
  const gaps = slots.map((slot, i) => gapBefore(slot, slots[i - 1], frame));
  const bars = parts.filter((part) => part.role === "pair" && !part.is_share);
  const least = gaps.reduce((total, gap) => total + gap.least, 0);
  const growth = gaps.reduce((total, gap) => total + gap.share, 0);
  const hasRibbons = parts.some((part) => part.mixes);
  const folded = new Set();
  let zoom = compact ? (hasRibbons ? 0.95 : 1.15) : 1.75;
  let widths, spare;
  for (; ; zoom -= 0.05) {
    const needed = (part) => {
      const own = widthOf(snapshot, part, frame, zoom, folded);
      return part.role === "lane" || compact || zoom < SMALL || folded.has(part.name)
        ? own
        : Math.max(own, headWidth(part));
    };
    widths = slots.map((slot) => Math.max(...slot.map(needed)));
    const taken = totalOf(widths) + least * Math.max(1, zoom * 0.9);
    spare = width - wordWidth - (hasRibbons ? endWidth : 8 * unit + reserve) - taken;
    const fits = spare >= 0 || (zoom <= SMALL && 1 + spare / least >= NARROWEST);
    if (fits || zoom <= (compact ? SMALLEST_COMPACT : SMALLEST)) break;
    if (zoom <= 1 && !folded.size && !compact) bars.slice(1, -1).forEach((part) => folded.add(part.name));
  }
  const squeeze = spare < 0 ? Math.max(NARROWEST, 1 + spare / least) : 1;
  const free = hasRibbons ? spare : Math.min(spare, 95 * unit * growth);
  const [x, w] = [{}, {}];
  let left = wordWidth;
  slots.forEach((slot, i) => {
    left += gaps[i].least * squeeze + (free > 0 && growth ? (free * gaps[i].share) / growth : 0);
    for (const part of slot) {
      w[part.name] = widthOf(snapshot, part, frame, zoom, folded);
      x[part.name] = left + (part.role === "lane" ? 0 : (widths[i] - w[part.name]) / 2);
    }
    left += widths[i];
  });
  return { x, w, zoom, folded };
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
  const laneHeight = stick + 14 * unit;
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
  for (const name of ["laneY", "laneHeight", "stick", "zoom", "openY", "openHeight"]) {
    blended[name] = between(from[name], to[name], share);
  }
  return blended;
}
