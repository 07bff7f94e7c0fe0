// Computes the size of the heads' maps: a grid of tiles at the left, and a large map at the right.
// All lengths in this module are in pixels.

// least width of a wide page; on a narrower one, two or three tiles are side by side, the large map is below
const WIDE = 640;
// most heads (or heads in a layer) that are two in a line on a phone; more are three in a line
const FEW = 4;
// The width of the large map, and its share of the page's width on a narrow and on a wide page.
const LARGE = { usual: 356, least: 250, share: 0.36, wide: 0.29 };
const BESIDE = [0, 0, 0.5, 0.68]; // least share of the page's width for two or three large maps of two runs
const BETWEEN = 28; // px: gap between the tiles and the large map
const STRETCH = 1.8; // largest ratio of a cell's width to its height
const HIGHEST_CELL = 88;
export const GAP = 10; // px: gap between two tiles
export const CAPTION = 22; // px: height of the name above a map
export const EDGE = 6; // px: gap between a map and the border of its tile
const LETTER = 34; // height of the letter (A or B) of a run above its tiles, and of the gap below the letter
export const LAYER_NAME = 64; // width of a layer's name beside the heads of the layer
const LEAST_SIDE = 100; // least side of a map; tiles that do not fit are reached by scrolling
const LEAST_IN_LAYER = 72; // least side of a map if a layer of the model has several heads

/**
 * @typedef {object} HeadsLayout
 * @property {boolean} isWide whether the large map stands beside the tiles
 * @property {number} columns the number of tiles in a line
 * @property {number} wide the width of the map in a tile
 * @property {number} tall its height
 * @property {number} large the width of the large map
 * @property {number | null} height the height of the tiles if they scroll, else null
 */

/**
 * Places the maps of all heads in the given room, each as large as possible. A single head has the large map alone.
 * @param {object} room
 * @param {number[]} room.counts the number of heads; of two runs without a difference, those of each
 * @param {number | null} room.inLayer the number of heads in each layer of a model; null if there are no layers
 * @param {number} room.width
 * @param {number} room.height
 * @param {boolean} [room.hasLarge] whether a large map stands beside the tiles
 * @param {number} [room.beside] how many large maps of two runs stand beside each other; 0 for one large map
 * @returns {HeadsLayout}
 */
export function placeHeads({ counts, inLayer, width, height, hasLarge = true, beside = 0 }) {
  const count = counts.reduce((one, other) => one + other);
  const letters = counts.length > 1 ? LETTER * counts.length : 0;
  if (width < WIDE) {
    const columns = Math.min((inLayer ?? count) <= FEW ? 2 : 3, count);
    const side = Math.min(Math.floor((width - GAP * (columns - 1)) / columns) - 2 * EDGE, 260);
    return { isWide: false, columns, wide: side, tall: side, large: width, height: null };
  }
  if (count === 1) {
    const large = beside ? width : Math.floor(Math.min(width - LARGE.least - BETWEEN, STRETCH * height));
    return { isWide: true, columns: 1, wide: 0, tall: 0, large, height: null };
  }
  const usual = Math.max(LARGE.usual, width * LARGE.wide);
  const single = hasLarge ? Math.max(LARGE.least, Math.min(usual, width * LARGE.share)) : -BETWEEN;
  const least = beside ? BESIDE[beside] * width : single;
  const room = width - least - BETWEEN - (inLayer ? LAYER_NAME + GAP : 0);
  const choices = inLayer ? [inLayer] : Array.from({ length: count }, (_, i) => i + 1);
  const placed = choices.map((columns) => ({ columns, ...mapOf(columns, counts, room, height - letters) }));
  const areaOf = ({ wide, tall }) => wide * tall;
  const smallest = inLayer ? LEAST_IN_LAYER : LEAST_SIDE;
  const legible = placed.filter((each) => each.tall >= smallest);
  const scrolls = !legible.length;
  const best = (one, other) => (areaOf(other) > areaOf(one) ? other : one);
  let { columns, wide, tall } = (scrolls ? placed : legible).reduce(best);
  if (scrolls) {
    columns = inLayer ?? Math.max(1, Math.floor((room + GAP) / (smallest + 2 * EDGE + GAP)));
    [wide, tall] = [smallest, smallest];
  }
  const taken = columns * (wide + 2 * EDGE + GAP) - GAP + (inLayer ? LAYER_NAME + GAP : 0);
  const most = Math.min(width - taken - BETWEEN, (beside || 1) * STRETCH * height);
  const large = Math.floor(beside ? most : Math.max(least, most));
  return { isWide: true, columns, wide, tall, large, height: scrolls ? height : null };
}

// Returns the width and height of a map if tiles in this number of columns fill the available space.
function mapOf(columns, counts, width, height) {
  const lines = counts.reduce((sum, count) => sum + Math.ceil(count / columns), 0);
  const across = (width - GAP * (columns - 1)) / columns - 2 * EDGE;
  const down = (height - lines * (CAPTION + GAP)) / lines - 2 * EDGE;
  const tall = Math.floor(Math.min(across, down));
  return { wide: Math.floor(Math.min(across, STRETCH * tall)), tall };
}

/**
 * The width and height of a cell of a map: whole numbers of pixels, unless the cells are too many for that.
 * @type {(matrix: { rows: number, columns: number }, width: number, height: number) => { wide: number, tall: number }}
 */
export function cellSize({ rows, columns }, width, height) {
  const tall = Math.min(width / columns, height / rows, HIGHEST_CELL);
  const wide = Math.min(width / columns, STRETCH * tall);
  return tall >= 3 ? { wide: Math.floor(wide), tall: Math.floor(tall) } : { wide, tall };
}
