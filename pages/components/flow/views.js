// Computes what the picture, the map view and the small maps draw, from the flow's data, selection and progress.
import { OPEN_HEIGHT } from "./arrangement.js";
import { readMap } from "./model.js";
import { placeOf } from "./twin.js";
import { said, withIndices } from "./words.js";

/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./model.js").Part} Part */
/** @typedef {import("./model.js").Snapshot} Snapshot */

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

/**
 * @typedef {object} View the data from which the picture is drawn
 * @property {Snapshot} snapshot
 * @property {Layout} layout
 * @property {{ rows: Map<string, Map<number, any>>, strength: number } | null} glow the rows that have just changed
 * @property {string} asking the word of the query
 * @property {number} progress the number of finished stops plus the share of the next: 2.5 is the middle of the third
 * @property {number | null} hovered the row under the pointer
 * @property {Record<string, number>} largest part -> the absolute value that has the full colour
 * @property {string[]} given the parts whose numbers the visitor gave
 * @property {string[]} words the words of the rows
 * @property {boolean} hasRest whether the last row stands for all other words
 * @property {number} restCount how many words these are
 * @property {string} together the text about the sum of their shares
 * @property {(row: number) => string} titleOf
 * @property {(row: number) => boolean} isMarked whether a word is unknown, random or startling
 * @property {string} lane the word in the lane
 * @property {Record<string, string>} legend what the colours of numbers mean: "plus", "minus" and "zero" in words
 * @property {(number: string) => string} saysBefore
 * @property {number} heads
 * @property {string[]} headNames
 * @property {(Box & { isSeen: boolean })[] | null} headMaps the boxes of the small maps of the heads
 * @property {number} queries
 * @property {any[]} rings places of numbers that have a ring
 */

export const MOST_DESCRIBED_HEADS = 5; // most heads whose small maps have a text besides their number
const MARKED = ["random", "unknown", "startling"]; // origins of words that get a mark in the picture

/**
 * The data that Picture.draw draws.
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
    given: data.given.steps,
    words: model.keys,
    hasRest: Boolean(data.cut),
    restCount: data.words.S.length - model.places.length,
    together: data.text.together,
    titleOf: (row) => data.titles[model.places[row]] ?? "",
    isMarked: (row) => MARKED.includes(data.origins.S[model.places[row]]),
    legend: data.random ? {} : data.text.legend, // random numbers are grey, and need no legend
    lane: data.crossed ? asking : data.text.asks,
    saysBefore: (number) => said(data.text.before, { percent: number }),
    heads: data.heads,
    headNames: data.head_names.map(({ name }) => name),
    headMaps: smallMapBoxes(flow),
    queries: data.words.T.length,
    rings: [...flow.ringed().flatMap((cell) => ringOf(flow, cell)), ...focusRing(flow)],
  };
}

// Returns the boxes of the heads' small maps while the animation merges heads into one row, else null.
// The boxes are read once per animation, because each reading makes the browser compute the layout.
function smallMapBoxes(flow) {
  const { told } = flow.journey;
  const isMerging = told.share < 1 && Boolean(told.stop?.parts.some((name) => flow.model.parts.get(name).merges));
  flow.headBoxes = isMerging ? flow.headBoxes ?? flow.rail.boxesFrom(flow.svg, flow.data.layers.now) : null;
  return flow.headBoxes;
}

// Returns the ring around an operand of the opened arithmetic of a cell, as a list.
// The list is empty if the picture does not draw the number of this operand.
function ringOf({ model, look, sum }, cell) {
  const place = model.findNumber(cell, look);
  return place ? [{ ...place, isPointed: sum.isPointed(cell) }] : [];
}

// Returns the ring around the number that has the keyboard focus, with its text, as a list; [] if none has it.
function focusRing({ hands: { flowKeys }, model }) {
  const { focused } = flowKeys;
  if (!focused) return [];
  const part = model.parts.get(focused.part);
  return [{ ...focused, part, isPointed: true, told: flowKeys.numberOf({ part, means: focused }) }];
}

/**
 * The data that MapView.draw draws: a step and, if it is a matrix product, its factors.
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
    open: isOpen && !frame.compact ? { row, height: open.height ?? OPEN_HEIGHT } : null,
    chosen: isOpen ? { row, column } : null,
    hovered: flow.hands.cell,
    fades: data.fills,
    rings: opened > 0 ? flow.ringed().map((cell) => ({ cell, isPointed: flow.sum.isPointed(cell) })) : [],
  };
}

/** The maps of SmallMaps for the heads of the run, or for the heads of all layers of a model. @param {any} flow */
export function smallHeads(flow) {
  return flow.data.layers.now ? layerHeads(flow) : ownHeads(flow);
}

/**
 * The maps of the view of all heads, under the visitor's options. For two runs without a difference, these are the
 * maps of both, each under its letter.
 * @param {any} flow
 */
export function readHeads(flow) {
  const { read, reads, sides, no_difference: isUnlike } = flow.data;
  if (reads?.side === "together") return [...headsOfA(flow, sides.a, reads.text.a), ...headsOfB(flow, reads.text.b)];
  return reads?.side === "a" && isUnlike ? headsOfA(flow, read) : headsOfB(flow);
}

// Returns the maps of the shown run (B in a comparison) or, if the visitor chose so, those of A or their difference.
// During a drag, these maps wait for the server.
function headsOfB(flow, letter = "") {
  const { data, model, share, waiting } = flow;
  const maps = smallHeads(flow).map((map) => ({ ...map, group: underLetter(letter, map.group) }));
  if (!data.read) return maps;
  const isMoved = waiting.has(share) || model.step(share) !== data.steps[share];
  return maps.map((map, i) => ({
    ...map, ...namesOf(data, map, i), matrix: readMap(data.read, i, share), waits: map.waits || isMoved,
  }));
}

// Returns a head's names in the run whose map is shown; run A has its own habit texts, a difference has none.
function namesOf({ reads, heads_of_a: headsA }, { caption, title }, i) {
  if (reads.side === "a") return nameHead(headsA[i]);
  return reads.side === "difference" ? { caption: caption.slice(0, 1), title: caption[0][0] } : { caption, title };
}

function headsOfA({ data, share }, read, letter = "") {
  return data.heads_of_a.map((head, i) => ({
    ...nameHead(head), key: `A${i}`, inA: i, matrix: readMap(read, i, share), short: head.short,
    group: underLetter(letter, head.group), waits: false,
  }));
}

const nameHead = ({ name, habit }) => ({
  caption: [[name, "head"], [habit, "habit"]], title: [name, habit].filter(Boolean).join(": "),
});

const underLetter = (letter, group) => [letter, group].filter(Boolean).join(" · ") || undefined;

// Returns the attention map of each head of the run, with the head's name and its description.
// While the visitor drags a number, only the selected head's map is updated; the others wait for the server.
function ownHeads({ data, model, look, share, waiting }) {
  const isMoved = waiting.has(share) || model.step(share) !== data.steps[share];
  const isCrowded = data.head_names.length > MOST_DESCRIBED_HEADS;
  return data.head_names.map(({ name, short, habit }, head) => {
    const matrix = model.headMap(share, { ...look, head });
    const caption = [[name, "head"], [habit, "habit"]];
    return {
      key: head, matrix, short, caption, habit,
      said: isCrowded ? [[short, "head"]] : caption,
      title: [name, habit].filter(Boolean).join(": "),
      waits: isMoved && (head !== look.head || waiting.has(share)),
    };
  });
}

// Returns the attention maps of the heads of all layers of a model, grouped by layer.
// While the visitor drags a number, only the maps of the selected layer are updated.
function layerHeads(flow) {
  const own = ownHeads(flow);
  const { data, model, share } = flow;
  const { now, names, titles } = data.layers;
  return names.flatMap((heads, i) =>
    heads.map((name, head) => {
      const isOwn = i + 1 === now;
      const matrix = isOwn ? own[head].matrix : model.layerMap(share, i * heads.length + head);
      const short = `L${i + 1} H${head + 1}`;
      const title = isOwn ? `${name}: ${own[head].habit}` : name;
      return {
        key: `${i + 1}.${head}`, group: titles[i], matrix, said: [[name, "habit"]], title,
        short, caption: [[short, "head"], [name === String(head + 1) ? "" : name, "habit"]],
        waits: isOwn && own[head].waits,
      };
    }),
  );
}

/** The maps of SmallMaps for the steps; Δ marks steps that the last change of the run changed. @param {any} flow */
export function smallSteps({ data, model, look, waiting, partial }) {
  return data.strip.map((name) => {
    const mark = data.moved.includes(name) ? " Δ" : "";
    return {
      key: name, title: name, matrix: model.matrix(name, look), said: withIndices(`${data.steps[name].label}${mark}`),
      waits: waiting.has(name) || partial.has(name),
    };
  });
}

/**
 * The argument of SumPanel.follow: the opened cell, and numberAt(cell), the current number of a cell, which is null if
 * the server still has to compute it.
 * @param {any} flow
 */
export function sumView({ data, model, open, waiting }) {
  const numberAt = ({ step, index }) =>
    waiting.has(step) ? null : model.step(step).value[placeOf(model.step(step).shape, index)];
  return { cell: open, numberAt, isMark: ({ step }) => model.step(step).kind === "mark", waits: data.text.waits };
}
