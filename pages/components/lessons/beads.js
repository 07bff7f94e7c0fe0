// Draws a sentence as strings of beads: one string per encoder, one bead per word.
// The more the output at a position depends on a word, the more that word's bead glows.
import { addedShape, classes, onResize, setAttributes, setColours, stateOf, svgShape } from "../dom.js";
import { textWidth } from "../flow/words.js";
import { followSlider } from "../live/position.js";
import { roving } from "../roving.js";
import { onPress } from "./word_picture.js";

/** @typedef {import("../live/position.js").Sliders} Sliders */

/**
 * @typedef {object} Beads
 * @property {string[]} words
 * @property {number} at the position whose output is examined
 * @property {{ name: string, colour: string, glows: (number | null)[] }[]} rows glows: the dependence on each word, 0
 *   to 1; null if the output cannot depend on the word
 * @property {number[]} places the chosen word at each position of the slider
 * @property {string[]} told the label of each word for a screen reader
 * @property {Sliders} slider
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

const NAME_ROOM = 96, ROW_TALL = 36, WORD_TALL = 30; // px: width of names, height of a string of beads, height of words
const MOST_BEAD = 10, HALO = 9; // px: the largest radius of a bead, and the largest width of the glow around it
const BEAD_WORD_PX = 14;

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Beads} data
 * @property {(event: string, value: unknown) => void} trigger
 * @property {SVGElement} svg
 * @property {number} chosen
 */

/** @param {import("../shared.js").Component<Beads>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".beads");
  /** @type {View} */
  const view = stateOf(root);
  Object.assign(view, { data, trigger: setTriggerValue });
  setColours(root, data.palette, ["ink", "faint", "outline"]);
  view.svg ??= addedShape(root, "svg");
  onResize(root, () => draw(view));
  followSlider(view.svg, data.slider, (position) => {
    root.classList.toggle("waits", position === null);
    view.chosen = data.places[position ?? data.slider.position];
    draw(view);
  });
}

/** @param {View} view */
function draw(view) {
  const { data, svg } = view;
  const wide = view.root.clientWidth;
  if (!wide) return;
  const isNarrow = wide < 560;
  const left = isNarrow ? 0 : NAME_ROOM;
  const tall = ROW_TALL + (isNarrow ? 18 : 0);
  const slot = (wide - left) / data.words.length;
  const x = (i) => left + (i + 0.5) * slot;
  const y = (row) => WORD_TALL + row * tall + tall - ROW_TALL / 2;
  const height = WORD_TALL + data.rows.length * tall + 4;
  roving(
    view.root,
    () => {
      const shapes = data.rows.flatMap((row, at) => string(view, row, { x, y: y(at), slot, wide, left, isNarrow }));
      svg.replaceChildren(...shapes, ...words(view, { x, slot, wide, height }));
    },
    "[role=button]",
  );
  setAttributes(svg, { viewBox: `0 0 ${wide} ${height}`, role: "group", "aria-label": data.text.alt });
}

// Returns the shapes of one encoder's string: its name, the line, and the beads.
function string({ data }, row, { x, y, slot, wide, left, isNarrow }) {
  const size = Math.min(MOST_BEAD, slot * 0.42);
  const name = isNarrow ? { x: 0, y: y - 20 } : { x: 0, y: y + 5 };
  /** @type {SVGElement[]} */
  const drawn = [
    svgShape("text", { ...name, class: "name", fill: row.colour }, row.name),
    svgShape("line", { x1: left, x2: wide, y1: y, y2: y, class: "string" }),
  ];
  data.words.forEach((_, i) => {
    const glow = row.glows[i];
    const place = { cx: x(i), cy: y };
    const halo = { r: size + Math.min(HALO, slot * 0.4) * (glow ?? 0), fill: row.colour, opacity: 0.3 * (glow ?? 0) };
    const bead = {
      r: size, class: glow === null ? "bead none" : "bead", fill: row.colour, stroke: row.colour,
      "fill-opacity": glow ?? 0,
    };
    if (glow) drawn.push(svgShape("circle", { ...place, ...halo }));
    drawn.push(svgShape("circle", { ...place, r: size, class: "ground" }), svgShape("circle", { ...place, ...bead }));
  });
  return drawn;
}

/**
 * The words, each a button over its beads. If not all words fit, only the chosen one and the position are written.
 * @param {View} view
 */
function words(view, { x, slot, wide, height }) {
  const { data, chosen } = view;
  const hasRoom = data.words.every((word) => textWidth(word, BEAD_WORD_PX, 700) + 4 <= slot);
  return data.words.flatMap((word, i) => {
    const isShown = hasRoom || i === chosen || (i === data.at && Math.abs(x(i) - x(chosen)) > 90);
    const half = textWidth(word, BEAD_WORD_PX, 700) / 2;
    const middle = Math.max(half, Math.min(wide - half, x(i)));
    const look = classes("word", i === chosen && "chosen", i === data.at && "at");
    const field = svgShape("rect", {
      x: x(i) - slot / 2, y: 1, width: slot, height: height - 2, rx: 5, class: `field ${look}`, role: "button",
      "aria-label": data.told[i],
    });
    onPress(field, () => view.trigger("chosen", i));
    return isShown ? [svgShape("text", { x: middle, y: 19, class: look }, word), field] : [field];
  });
}
