// Provides the picture with the numbers of a run, for one query and one head.
// The data come from pages/panels/flow_data.py on the server.
import { BLOCKED, floatsOf } from "../pixels.js";
import { keyHead, lastOf, placeOf, totalOf } from "./twin.js";

/** @typedef {import("./twin.js").Step} Step */
/** @typedef {import("./twin.js").Steps} Steps */
/** @typedef {import("./journey.js").Stop} Stop */

/**
 * @typedef {object} Part a step as drawn in the picture, see attention_core/drawing/flow.py
 * @property {string} name the name of the step
 * @property {"row" | "pair" | "pairs" | "lane"} role row, pairs: a vector for each key; pair: a number for each key;
 *   lane: a vector of the query
 * @property {number} column
 * @property {string} motion how its operands move in its keyframe, such as "scale"
 * @property {string[]} reads the names of the parts from which it is computed
 * @property {string} sign
 * @property {string} label
 * @property {string} short a name for where the label has no room
 * @property {string} family
 * @property {boolean} is_share
 * @property {boolean} mixes whether it is the weighted sum of the values
 * @property {boolean} merges whether it contains all heads
 * @property {boolean} after whether it comes after the weighted sum
 * @property {any} formula
 * @property {string} [opens] the step whose map a click on its name opens
 */

/**
 * @typedef {object} Look a selection: what is shown of a run
 * @property {number} batch
 * @property {number} head
 * @property {number} query
 * @property {"flow" | "heads" | "map" | "plane"} [view]
 * @property {string} [step] the step that is shown as a map
 */

/** @typedef {{ step: string, index: number[] }} Cell a number of the run */

/**
 * @typedef {object} Snapshot everything that the picture draws for a selection
 * @property {Look} look
 * @property {number} asks the row of the query's word; -1 if that word is not a key
 * @property {Part[]} parts
 * @property {Stop[]} stops
 * @property {Record<string, Float64Array>} numbers part -> its numbers, row by row
 * @property {Float64Array} shares
 * @property {Part} share the part with the shares
 * @property {boolean[]} blocked whether each row is blocked by a mask
 */

/**
 * @typedef {object} Matrix the last two axes of a step
 * @property {string} [step]
 * @property {number} rows
 * @property {number} columns
 * @property {string} [rowAxis]
 * @property {string} [columnAxis]
 * @property {string[]} [rowNames]
 * @property {string[]} [columnNames]
 * @property {string} kind
 * @property {ArrayLike<number>} value
 * @property {number} first the index of its first number in `value`
 * @property {number} largest the absolute value that has the full colour
 * @property {boolean} [isTransposed]
 * @property {(row: number) => any} row returns the numbers of a row
 * @property {(row: number, column: number) => boolean} isBlocked
 * @property {(row: number, column: number) => boolean} [isHidden] whether the visitor's options hide this weight
 * @property {boolean} [isTimes] whether a difference is one of multiples of the even share
 * @property {(row: number, column: number) => number[]} [placeOf] the index of a cell in the step
 */

export const LEAST_SHARE = 0.005; // smaller differences of shares would be printed as 0 percentage points
export const LEAST_TIMES = 0.05; // smaller differences of multiples of the even share would be printed as 0.0
const MOST_SHARE = 252; // the byte for an attention weight of 1 in the server's small maps

export class Model {
  constructor(data) {
    this.data = data;
    /** @type {Steps} the steps of the run; during a drag, those that twin.js computes */
    this.steps = data.steps;
    /** @type {Map<string, Part>} */
    this.parts = new Map(data.parts.map((part) => [part.name, part]));
    this.places = data.cut ? data.cut.keys : data.words.S.map((_, place) => place); // drawn row -> index of its key
    this.keys = this.places.map((place) => data.words.S[place]);
    // name of the last row, which stands for all keys that are not drawn
    if (data.cut) this.keys.push(data.text.others);
    this.heads = data.heads;
    /** @type {Float32Array | null} the weights of all heads of all layers, unpacked when they are first drawn */
    this.layerWeights = null;
  }

  /**
   * The row of a key.
   * @param {number} place
   * @returns {number} -1 if the key is not drawn
   */
  rowOf(place) {
    return this.places.indexOf(place);
  }

  /** The row of the key with the largest share; not the row of all other words. @param {Float64Array} shares */
  mostOf(shares) {
    return largestOf(shares, 0, Math.min(this.places.length, shares.length));
  }

  /**
   * Converts an index on an axis of the run to the index in the numbers that the browser has.
   * @param {string} dim
   * @param {number} place
   * @param {Part} part
   */
  stored(dim, place, part) {
    if (!this.data.cut) return place;
    const isRow = dim === "S" || (dim === "T" && part.role === "row");
    return isRow ? this.rowOf(place) : 0;
  }

  /** The part of a step that the picture draws. @param {string} name */
  part(name) {
    return /** @type {Part} */ (this.parts.get(name));
  }

  /** @param {string} name */
  step(name) {
    return this.steps[name];
  }

  /**
   * The index of a cell of the picture in its step.
   * @param {Part} part
   * @param {Look} look
   * @param {number} row
   * @param {number} m index within a vector
   */
  indexOf(part, look, row, m) {
    const { dims } = this.step(part.name);
    return dims.map((dim, axis) => this.position(dim, part, look, row, axis === dims.length - 1 ? m : 0));
  }

  /**
   * The index of a cell of the picture in the numbers that the browser has; on an axis of length 1 it is 0.
   * @type {(part: Part, look: Look, row: number, m: number) => number[]}
   */
  storedIndex(part, look, row, m) {
    const { dims, shape } = this.step(part.name);
    return this.indexOf(part, look, row, m).map((place, axis) =>
      Math.min(this.stored(dims[axis], place, part), shape[axis] - 1),
    );
  }

  position(dim, part, look, row, m) {
    if (dim === "S") return this.places[row];
    if (dim === "T") return part.role === "row" ? this.places[row] : look.query;
    if (dim === "B") return look.batch;
    if (dim === "H") return look.head;
    if (dim === "H_kv")
      return this.data.cut ? this.data.cut.kv : keyHead(look.head, this.heads, this.step(part.name).shape[1]);
    return m;
  }

  /**
   * A step as a matrix: its last two axes, or one row if it has only one axis.
   * @param {string} name
   * @param {Look} look
   * @param {boolean} [isTransposed]
   * @returns {Matrix}
   */
  matrix(name, look, isTransposed = false) {
    const { dims, shape, value, kind } = this.step(name);
    const leading = dims.slice(0, -2).map((dim, axis) => Math.min(this.place(dim, look, shape[axis]), shape[axis] - 1));
    const [rows, columns] = [1, ...shape].slice(-2);
    const [rowAxis, columnAxis] = ["", ...dims].slice(-2);
    const first = placeOf(shape.slice(0, -2), leading) * rows * columns;
    const numbers = value.subarray(first, first + rows * columns);
    const upright = {
      step: name, rows, columns, rowAxis, columnAxis, kind, value, first,
      rowNames: this.names(rowAxis, rows),
      columnNames: this.names(columnAxis, columns),
      largest: kind === "signed" ? this.largest(name, numbers) : kind === "share" ? this.data.darkest : 1,
      row: (row) => numbers.subarray(row * columns, (row + 1) * columns),
      isBlocked: (row, column) => this.isBlocked(name, leading, rowAxis, row, column, numbers[row * columns + column]),
      placeOf: (row, column) => (rowAxis ? [...leading, row, column] : [column]),
    };
    return isTransposed ? transposed(upright) : upright;
  }

  /**
   * The matrix of the shares of a head; for a large run, the small map that the server sent.
   * @param {string} name
   * @param {Look} look
   * @returns {Matrix}
   */
  headMap(name, look) {
    if (!this.data.cut) return this.matrix(name, look);
    return givenMap(this.data.rail, look.head, this.data.rail_shape);
  }

  /**
   * The weights of a head in any layer of a language model; a blocked cell is NaN.
   * @param {string} step the name of the step with the weights
   * @param {number} number the index of the head among the heads of all layers
   * @returns {Matrix}
   */
  layerMap(step, number) {
    const { layers, layer_maps: bytes, darkest } = this.data;
    const value = (this.layerWeights ??= floatsOf(bytes));
    const [rows, columns] = layers.shape;
    const first = number * rows * columns;
    const row = (i) => value.subarray(first + i * columns, first + (i + 1) * columns);
    const isBlocked = (i, j) => isNaN(row(i)[j]);
    return { step, rows, columns, kind: "share", largest: darkest, row, isBlocked, value, first };
  }

  /**
   * The absolute value that has the full colour; parts of the picture share one scale with the map.
   * @type {(name: string, numbers: Float64Array) => number}
   */
  largest(name, numbers) {
    if (this.data.largest[name]) return this.data.largest[name];
    return numbers.reduce((most, number) => (Number.isFinite(number) ? Math.max(most, Math.abs(number)) : most), 0);
  }

  /** @type {(axis: string, size: number) => string[]} */
  names(axis, size) {
    if (axis === "T" || axis === "S") return this.data.words[axis].slice(0, size);
    const names = this.data.names[axis];
    return names?.length === size ? names : Array.from({ length: size }, (_, i) => (axis ? String(i + 1) : ""));
  }

  // Returns whether a mask blocks a cell: 0 in the mask, a score of -Infinity, or a weight of 0 from such a score.
  isBlocked(name, leading, rowAxis, row, column, number) {
    const { kind, dims } = this.step(name);
    if (kind === "mark") return !number;
    if (number === -Infinity) return true;
    if (kind !== "share" || number !== 0 || rowAxis !== "T" || dims.at(-1) !== "S") return false;
    const source = this.scoresOf(name);
    return source !== null && source.value[placeOf(source.shape, [...leading, row, column])] === -Infinity;
  }

  /**
   * The step with the scores from which shares are computed, which has minus infinity for blocked keys; null if none.
   * @param {string} name
   * @returns {Step | null}
   */
  scoresOf(name) {
    for (let step = this.step(name); step?.operation;) {
      const before = step.operation.reads
        .map((read) => this.step(read))
        .find((read) => read?.dims.at(-1) === "S" && read.dims.at(-2) === "T");
      if (!before || before.kind === "signed") return before ?? null;
      step = before;
    }
    return null;
  }

  place(dim, look, size) {
    if (dim === "B") return look.batch;
    if (dim === "H") return look.head;
    if (dim === "H_kv") return keyHead(look.head, this.heads, size);
    return dim === "T" ? look.query : 0;
  }

  /**
   * The part and the row that show a cell of a step; null if no part draws the step.
   * @param {string} name
   * @param {number[]} index
   * @returns {{ part: Part, row: number | 'lane' } | null}
   */
  findPart(name, index) {
    const part = this.parts.get(name);
    if (!part) return null;
    const { dims } = this.step(name);
    const axis = part.role === "row" && !dims.includes("S") ? dims.indexOf("T") : dims.indexOf("S");
    return { part, row: part.role === "lane" ? "lane" : this.rowOf(index[axis]) };
  }

  /**
   * The place { part, row, m } of a cell of a step in the picture of a selection; null if the cell is not drawn.
   * @param {Cell} cell
   * @param {Look} look
   */
  findNumber({ step, index }, look) {
    const found = this.findPart(step, index);
    if (!found) return null;
    const { part } = found;
    const place = { part, row: found.row === "lane" ? 0 : found.row, m: part.role === "pair" ? 0 : lastOf(index) };
    return place.row >= 0 && String(this.indexOf(part, look, place.row, place.m)) === String(index) ? place : null;
  }

  /** The number of rows of a part. @param {Part} part */
  rows(part) {
    return part.role === "lane" ? 1 : this.keys.length;
  }

  /** The number of numbers in a row of a part. @param {Part} part */
  width(part) {
    return part.role === "pair" ? 1 : lastOf(this.step(part.name).shape);
  }

  /**
   * The numbers of a part, row by row.
   * @param {Part} part
   * @param {Look} look
   */
  numbers(part, look) {
    const [rows, width] = [this.rows(part), this.width(part)];
    const { shape, value } = this.step(part.name);
    const found = new Float64Array(rows * width).fill(NaN);
    const drawn = part.role === "lane" ? 1 : this.places.length;
    for (let row = 0; row < drawn; row++) {
      const first = placeOf(shape, this.storedIndex(part, look, row, 0));
      if (part.role === "pair") found[row] = value[first];
      else for (let m = 0; m < width; m++) found[row * width + m] = value[first + m];
    }
    return found;
  }

  /**
   * Everything that is drawn for a selection. Parts that change no number in this row are left out, but not a division:
   * it would vanish from rows whose scores are all 0.
   * @param {Look} look
   * @returns {Snapshot}
   */
  snapshot(look) {
    const numbers = {};
    for (const part of this.parts.values()) numbers[part.name] = this.numbers(part, look);
    const idle = new Map();
    for (const part of this.parts.values()) {
      const [source] = part.reads;
      const isScore = part.role === "pair" && !part.is_share && this.parts.get(source)?.role === "pair";
      const changes = !isScore || part.motion === "scale" ||
        numbers[part.name].some((number, row) => !Object.is(number, numbers[source][row]));
      if (!changes) idle.set(part.name, source);
    }
    const shown = (name) => (idle.has(name) ? shown(idle.get(name)) : name);
    const parts = [];
    for (const part of this.parts.values()) {
      if (idle.has(part.name) || this.feedsOnly(part, idle)) continue;
      parts.push({ ...part, reads: [...new Set(part.reads.map(shown))] });
    }
    const names = new Set(parts.map((part) => part.name));
    const stops = [];
    for (const stop of this.data.stops) {
      const kept = stop.parts.filter((name) => names.has(name));
      if (kept.length) stops.push({ ...stop, parts: kept });
    }
    const share = parts.find((part) => part.is_share);
    const shares = this.withRest(numbers[share.name]);
    const shut = this.shutRows(numbers, share);
    const blocked = Array.from(shares, (_, row) => shares[row] === 0 && shut[row]);
    const asks = this.data.crossed ? shares.length - 1 : this.rowOf(look.query);
    return { look, asks, parts, stops, numbers, shares, share, blocked };
  }

  /**
   * Whether the score of each key is minus infinity in a part from which the shares are computed; [] if no score is.
   * @param {Record<string, Float64Array>} numbers
   * @param {Part} share
   */
  shutRows(numbers, share) {
    /** @type {Part | undefined} */
    let part = share;
    for (; part?.role === "pair"; part = this.parts.get(part.reads[0])) {
      const isShut = Array.from(numbers[part.name], (number) => number === -Infinity);
      if (isShut.includes(true)) return isShut;
    }
    return [];
  }

  /** Sets the share of the row of all other words to the remaining weight. @param {Float64Array} shares */
  withRest(shares) {
    if (!this.data.cut) return shares;
    const drawn = totalOf(shares.slice(0, -1));
    shares[shares.length - 1] = Math.max(0, 1 - drawn);
    return shares;
  }

  /**
   * Whether a part, such as a bias of zeros, is read only by parts that change nothing.
   * @type {(part: Part, idle: Map<string, string>) => boolean}
   */
  feedsOnly(part, idle) {
    const readers = [...this.parts.values()].filter((other) => other.reads.includes(part.name));
    return (
      part.role === "pair" && readers.length > 0 && !part.reads.length && readers.every((other) => idle.has(other.name))
    );
  }
}

/**
 * The transpose of a matrix.
 * @param {Matrix} matrix
 * @returns {Matrix}
 */
function transposed(matrix) {
  return {
    ...matrix,
    isTransposed: true,
    rows: matrix.columns,
    columns: matrix.rows,
    rowAxis: matrix.columnAxis,
    columnAxis: matrix.rowAxis,
    rowNames: matrix.columnNames,
    columnNames: matrix.rowNames,
    row: (row) => Float64Array.from({ length: matrix.rows }, (_, i) => matrix.row(i)[row]),
    isBlocked: (row, column) => matrix.isBlocked(column, row),
    placeOf: (row, column) => matrix.placeOf?.(column, row) ?? [],
  };
}

/**
 * One of several small maps, which the server sends as colour numbers.
 * @param {Uint8Array} cells colour numbers of all maps
 * @param {number} number the index of the map
 * @param {number[]} shape
 * @returns {Matrix}
 */
export function givenMap(cells, number, [rows, columns]) {
  const own = cells.subarray(number * rows * columns, (number + 1) * rows * columns);
  const row = (row) => own.subarray(row * columns, (row + 1) * columns);
  return {
    rows, columns, kind: "share", largest: MOST_SHARE, row,
    isBlocked: (i, j) => row(i)[j] === BLOCKED,
    value: own, first: number,
  };
}

/**
 * One of the maps that the server sent under the visitor's options; a blocked cell is NaN.
 * @param {any} data of pages/panels/map_reading.py; numbers: of all maps, hidden: whether each cell is hidden
 * @param {number} number the index of the map
 * @param {string} [step]
 * @returns {Matrix}
 */
export function readMap({ rows: rowNames, columns: columnNames, kind, times, numbers, hidden, largest }, number, step) {
  const [rows, columns] = [rowNames.length, columnNames.length];
  const first = number * rows * columns;
  const row = (i) => numbers.subarray(first + i * columns, first + (i + 1) * columns);
  return {
    step, rows, columns, rowNames, columnNames, row, value: numbers, first,
    kind, isTimes: times,
    largest: kind === "change" ? largestChange(numbers, times) : times ? columns : largest ?? 1,
    isBlocked: (i, j) => isNaN(row(i)[j]),
    isHidden: (i, j) => Boolean(hidden[first + i * columns + j]),
  };
}

const largestChanges = new WeakMap(); // numbers of all maps of a difference -> the largest absolute number

/** The number with the full colour in all maps of a difference: the largest one. */
function largestChange(numbers, times) {
  if (!largestChanges.has(numbers)) largestChanges.set(numbers, fullColour(numbers, times));
  return largestChanges.get(numbers);
}

/**
 * The number with the full colour in a difference: its largest, but at least one that is printed in its cell.
 * @param {Iterable<number>} numbers NaN for a blocked cell
 * @param {boolean} isTimes whether they are multiples of the even share
 */
export function fullColour(numbers, isTimes) {
  let most = isTimes ? LEAST_TIMES : LEAST_SHARE;
  for (const number of numbers) if (Math.abs(number) > most) most = Math.abs(number);
  return most;
}

/**
 * The index of the number with the largest absolute value, from first to end - 1.
 * @param {ArrayLike<number>} numbers
 * @param {number} first
 * @param {number} end
 */
export function largestOf(numbers, first, end) {
  let found = first;
  for (let i = first + 1; i < end; i++) if (Math.abs(numbers[i]) > Math.abs(numbers[found])) found = i;
  return found;
}
