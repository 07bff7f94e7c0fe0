// What the picture, the map and the small maps are drawn from: the state of the flow as each of them reads it.
import { OPEN_HEIGHT } from "./arrangement.js";
import { givenMap } from "./model.js";
import { placeOf } from "./twin.js";
import { said } from "./words.js";

/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./model.js").Part} Part */
/** @typedef {import("./model.js").Snapshot} Snapshot */

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

/**
 * @typedef {object} View what the picture is drawn from
 * @property {Snapshot} snapshot
 * @property {Layout} layout
 * @property {{ rows: Map<string, Map<number, any>>, strength: number } | null} glow what a change has just changed
 * @property {string} asking the word that asks
 * @property {number} progress stops that are over, and how far the next one has come: 2.5 is the middle of the third
 * @property {number | null} hovered the row under the pointer
 * @property {Record<string, number>} largest the number of each part that has the full colour
 * @property {string[]} words of the rows
 * @property {boolean} hasRest whether the last row stands for all other words
 * @property {(row: number) => string} titleOf
 * @property {(row: number) => boolean} isMarked whether a word is unknown, random or startling
 * @property {string} lane the word in the lane
 * @property {(number: string) => string} saysBefore
 * @property {number} heads
 * @property {string[]} headNames
 * @property {(Box & { isSeen: boolean })[] | null} headMaps where the small maps of the heads stand
 * @property {number} queries
 * @property {any[]} rings places with a ring round them
 */

const MARKED = ["random", "unknown", "startling"]; // what is said of these words is said with a mark

/**
 * What Picture.draw draws.
 * @param {any} flow
 * @param {Snapshot} snapshot
 * @param {Layout} layout
 * @param {View['glow']} glow
 * @returns {View}
 */
export function pictureView(flow, snapshot, layout, glow) {
  const { data, model, asking } = flow;
  return {
    snapshot, layout, glow, asking,
    progress: flow.journey.progress,
    hovered: flow.hands.row,
    largest: data.largest,
    words: model.keys,
    hasRest: Boolean(data.cut),
    titleOf: (row) => data.titles[model.places[row]] ?? "",
    isMarked: (row) => MARKED.includes(data.origins.S[model.places[row]]),
    lane: data.crossed ? asking : data.text.asks,
    saysBefore: (number) => said(data.text.before, { percent: number }),
    heads: data.heads,
    headNames: data.head_names.map(({ name }) => name),
    headMaps: smallMapBoxes(flow),
    queries: data.words.T.length,
    rings: [...flow.ringed().flatMap((cell) => ringOf(flow, cell)), ...focusRing(flow)],
  };
}

// Where the small maps stand while heads are on their way into one row: asked once a way, for a page must lay itself
// out before it can answer.
function smallMapBoxes(flow) {
  const { told } = flow.journey;
  const isMerging = told.share < 1 && Boolean(told.stop?.parts.some((name) => flow.model.parts.get(name).merges));
  flow.headBoxes = isMerging ? flow.headBoxes ?? flow.rail.boxesFrom(flow.svg, flow.data.layers.now) : null;
  return flow.headBoxes;
}

// An operand of the unfolded sum in the picture, where it is drawn.
function ringOf({ model, look, sum }, cell) {
  const place = model.findNumber(cell, look);
  return place ? [{ ...place, isPointed: sum.isPointed(cell) }] : [];
}

// The number under the keys, and how it is written there.
function focusRing({ hands: { flowKeys }, model }) {
  const { focused } = flowKeys;
  if (!focused) return [];
  const part = model.parts.get(focused.part);
  return [{ ...focused, part, isPointed: true, told: flowKeys.numberOf({ part, means: focused }) }];
}

/**
 * What MapView.draw draws: a step, and what it is a product of.
 * @param {any} flow
 * @param {Layout} layout
 */
export function mapView(flow, { frame }) {
  const { data, model, look, open, opened } = flow;
  const isOpen = open && open.step === look.step;
  const { product } = data.steps[look.step];
  const [row, column] = isOpen ? [0, 0, ...open.index].slice(-2) : [];
  const block = (step, isTransposed) => {
    const matrix = model.matrix(step, look, isTransposed);
    return { ...matrix, starts: opened < 1 ? flow.flights.leave(matrix) : new Map(), waits: flow.waiting.has(step) };
  };
  const operand = ({ step, transposed, family }) => {
    const title = `${data.steps[step].label}${transposed ? "ᵀ" : ""}`;
    return { ...block(step, transposed), title, family, isTyped: data.typed.includes(step) };
  };
  return {
    frame, look, opened,
    result: opened > 0 ? block(look.step) : null,
    left: product && opened > 0 ? operand(product.left) : null,
    above: product && opened > 0 ? operand(product.above) : null,
    open: isOpen ? { row, height: open.height ?? OPEN_HEIGHT } : null,
    chosen: isOpen ? { row, column } : null,
    hovered: flow.hands.cell,
    fades: data.fills,
    rings: opened > 0 ? flow.ringed().map((cell) => ({ cell, isPointed: flow.sum.isPointed(cell) })) : [],
  };
}

/** What SmallMaps shows of the heads: of the run, or of a language model those of all its layers. @param {any} flow */
export function smallHeads(flow) {
  return flow.data.layers.now ? layerHeads(flow) : ownHeads(flow);
}

// Each head's shares, and what it does. While a hand moves them, those of other heads wait.
function ownHeads({ data, model, look, share, waiting }) {
  const isMoved = waiting.has(share) || model.step(share) !== data.steps[share];
  return data.head_names.map(({ name, habit }, head) => {
    const matrix = model.headMap(share, { ...look, head });
    return {
      key: head, matrix,
      said: [
        [name, "head"], [habit, "habit"],
      ],
      waits: isMoved && (head !== look.head || waiting.has(share)),
    };
  });
}

// The heads of all layers, each layer as a group; those of the layer that is looked at follow a hand.
function layerHeads(flow) {
  const own = ownHeads(flow);
  const { now, names, titles, shape } = flow.data.layers;
  return names.flatMap((heads, i) =>
    heads.map((name, head) => {
      const isOwn = i + 1 === now;
      const matrix = isOwn ? own[head].matrix : givenMap(flow.data.layer_maps, i * heads.length + head, shape);
      const title = isOwn ? `${name}: ${own[head].said[1][0]}` : name;
      return {
        key: `${i + 1}.${head}`, group: titles[i], matrix, said: [[name, "habit"]], title,
        waits: isOwn && own[head].waits,
      };
    }),
  );
}

/** What SmallMaps shows of the steps; Δ marks those that the last change moved. @param {any} flow */
export function smallSteps({ data, model, look, waiting, partial }) {
  return data.strip.map((name) => {
    const mark = data.moved.includes(name) ? " Δ" : "";
    return {
      key: name, title: name, matrix: model.matrix(name, look), said: [[`${data.steps[name].label}${mark}`, ""]],
      waits: waiting.has(name) || partial.has(name),
    };
  });
}

/**
 * What SumPanel.follow shows: the cell, and the number of any cell as it is now; null if the server has still to
 * compute it.
 * @param {any} flow
 */
export function sumView({ data, model, open, waiting }) {
  const numberAt = ({ step, index }) =>
    waiting.has(step) ? null : model.step(step).value[placeOf(model.step(step).shape, index)];
  return { cell: open, numberAt, isMark: ({ step }) => model.step(step).kind === "mark", waits: data.text.waits };
}
