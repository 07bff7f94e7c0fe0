// Computes the size of the heads' maps: a grid of tiles at the left, and a large map at the right of it.
// All lengths are in pixels.

const WIDE = 640; // below this width, as on a phone, two tiles stand in a line, and the large map stands below them
const LARGE = { usual: 356, least: 250, share: 0.36 }; // width of the large map, and its share of a narrow page
const BETWEEN = 28; // between the tiles and the large map
export const GAP = 10; // between two tiles
export const CAPTION = 22; // height of the name over a map
export const EDGE = 6; // between the map and the border of its tile
export const LAYER_NAME = 64; // width of the name of a layer beside its heads
const LEAST_SIDE = 100; // a map is never smaller; maps that then do not fit are reached by scrolling
const LEAST_IN_LAYER = 72; // the same, of a model with several heads in a layer

/**
 * @typedef {object} HeadsLayout
 * @property {boolean} isWide whether the large map stands beside the tiles
 * @property {number} columns the number of tiles in a line
 * @property {number} side the longer side of the map in a tile
 * @property {number} large the width of the large map
 * @property {number | null} height the height of the tiles if they scroll, else null
 */

/**
 * Places the maps of all heads in the given room, each as large as possible.
 * @param {object} room
 * @param {number} room.count the number of heads
 * @param {number | null} room.inLayer the number of heads in each layer of a model; null if there are no layers
 * @param {number} room.width
 * @param {number} room.height
 * @returns {HeadsLayout}
 */
export function placeHeads({ count, inLayer, width, height }) {
  if (width < WIDE) {
    const columns = Math.min(2, count);
    const side = Math.floor((width - GAP * (columns - 1)) / columns) - 2 * EDGE;
    return { isWide: false, columns, side: Math.min(side, 260), large: width, height: null };
  }
  const least = Math.max(LARGE.least, Math.min(LARGE.usual, width * LARGE.share));
  const room = width - least - BETWEEN - (inLayer ? LAYER_NAME + GAP : 0);
  const choices = inLayer ? [inLayer] : Array.from({ length: count }, (_, i) => i + 1);
  const placed = choices.map((columns) => ({ columns, side: sideOf(columns, count, room, height) }));
  let { columns, side } = placed.reduce((best, each) => (each.side > best.side ? each : best));
  const smallest = inLayer ? LEAST_IN_LAYER : LEAST_SIDE;
  const scrolls = side < smallest;
  if (scrolls) {
    columns = inLayer ?? Math.max(1, Math.floor((room + GAP) / (smallest + 2 * EDGE + GAP)));
    side = smallest;
  }
  const taken = columns * (side + 2 * EDGE + GAP) + (inLayer ? LAYER_NAME + GAP : 0);
  const large = Math.floor(Math.max(least, Math.min(width - taken - BETWEEN, height - 40)));
  return { isWide: true, columns, side, large, height: scrolls ? height : null };
}

// Returns the side of a map if the tiles fill a room with a number of columns.
function sideOf(columns, count, width, height) {
  const lines = Math.ceil(count / columns);
  const across = (width - GAP * (columns - 1)) / columns - 2 * EDGE;
  const down = (height - lines * (CAPTION + GAP)) / lines - 2 * EDGE;
  return Math.floor(Math.min(across, down));
}

/**
 * The side of a cell of a map: a whole number of pixels, unless the cells are too many for that.
 * @type {(matrix: { rows: number, columns: number }, width: number, height: number) => number}
 */
export function cellSide({ rows, columns }, width, height) {
  const side = Math.min(width / columns, height / rows, 64);
  return side >= 3 ? Math.floor(side) : side;
}
