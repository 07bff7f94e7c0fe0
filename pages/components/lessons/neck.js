// Shows an encoder-decoder on letters, which generates through one vector (the bottleneck) or by attention.
// Lines are as thick as attention weights. The player generates one letter after the other.
import { added, classes, element, keepFocus, onResize, setColours, stateOf, svgShape } from "../dom.js";
import { said, spellWholePercent } from "../flow/words.js";
import { followSlider } from "../live/position.js";
import { playerOf } from "../player.js";
import { curve } from "./word_picture.js";

/** @typedef {import("../live/position.js").Sliders} Sliders */

/**
 * @typedef {object} Neck
 * @property {string} run the identity of the run; a new run starts at `start`
 * @property {string[]} read the input letters
 * @property {Way[]} ways
 * @property {number} start the first shown stage
 * @property {Sliders} slider
 * @property {Record<string, string>} palette
 * @property {any} text
 */

/**
 * @typedef {object} Way
 * @property {string} name
 * @property {string[]} written the generated letters
 * @property {(boolean | null)[]} right whether each generated letter is right; null if unknown
 * @property {string[]} [fills] the colours of the numbers of the vector
 * @property {number[][]} [weights] a row of weights for each generated letter
 */

const LEAST_LETTER = 9, MOST_LETTER = 24; // px: smallest and largest font size of a letter; smaller letters are dots
const NECK_TALL = 22, FALL = 62; // px: height of the bottleneck, and its distance from the letters
const STAGE_MS = 700; // ms for which the player shows a letter

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Neck} data
 * @property {(event: string, value: unknown) => void} trigger
 * @property {HTMLElement} panels
 * @property {HTMLElement} walk
 * @property {HTMLElement} told
 * @property {string} run
 * @property {number} at the current stage
 * @property {any} player
 */

/** @param {import("../shared.js").Component<Neck>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".neck");
  /** @type {View} */
  const view = stateOf(root);
  Object.assign(view, { data, trigger: setTriggerValue });
  setColours(root, data.palette, ["ink", "faint", "share", "k", "minus"]);
  if (!view.panels) {
    view.panels = added(root, "div", "panels");
    view.walk = added(root, "div", "walk");
    view.told = added(root, "div", "told", { ariaLive: "polite" });
  }
  onResize(root, () => view.player.show(view.at));
  const last = Math.max(0, ...data.ways.map(({ written }) => written.length - 1));
  const refocus = keepFocus(root);
  view.player = playerOf(view, { text: data.text, last, time: STAGE_MS, draw: () => draw(view) });
  view.walk.replaceChildren(view.player.play, view.player.range);
  refocus();
  if (view.run !== data.run) view.at = data.start;
  view.run = data.run;
  followSlider(view.panels, data.slider, (position) =>
    root.classList.toggle("waits", position !== data.slider.position),
  );
  view.player.show(Math.min(view.at, last));
}

/** Draws the current stage, and returns its text. @param {View} view */
function draw(view) {
  const { data, panels } = view;
  const { clientWidth } = view.root;
  if (clientWidth) {
    const beside = clientWidth >= 560 && data.ways.length > 1 && data.read.length <= 24;
    // the width is rounded down, because a zoomed page has fractions of pixels
    const wide = beside ? Math.floor((clientWidth - 26) / 2) : clientWidth;
    panels.replaceChildren(...data.ways.map((way) => panel(view, way, wide)));
  }
  return (view.told.textContent = tell(view));
}

// ---- drawing --------------------------------------------------------------------------------------------------------
/** @param {View} view */
function panel(view, way, wide) {
  const { data, at } = view;
  const sizeOf = (many) => Math.min(MOST_LETTER, (wide / many) * 0.86);
  const letters = (many) => ({ x: (i) => ((i + 0.5) * wide) / many, size: sizeOf(many) });
  const read = letters(data.read.length);
  const written = letters(Math.max(way.written.length, data.read.length));
  const top = 32, bottom = top + 2 * FALL + NECK_TALL;
  const looked = way.weights?.[at] ?? [];
  const svg = svgShape("svg", {
    viewBox: `0 0 ${wide} ${bottom + 34}`, role: "img",
    "aria-label": `${way.name}: ${way.written.slice(0, at + 1).join("")}`,
  }, [
    ...(way.weights ? threads(view, way, read, written, top, bottom) : neck(view, way, read, written, top, wide)),
    ...data.read.map((letter, j) => {
      const isLooked = looked.length && looked[j] === Math.max(...looked);
      return letterAt(read, j, top - 10, letter, isLooked ? "letter looked" : "letter");
    }),
    ...way.written.map((letter, i) => {
      const look = classes("letter", i > at && "later", i === at && "now", way.right[i] === false && "wrong");
      return letterAt(written, i, bottom + 24, letter, look);
    }),
  ]);
  return element("figure", "panel", { style: `width: ${wide}px` }, [element("figcaption", "", way.name), svg]);
}

function letterAt(place, i, y, letter, look) {
  if (place.size >= LEAST_LETTER)
    return svgShape("text", { x: place.x(i), y, class: look, style: `font-size:${place.size}px` }, letter);
  return svgShape("circle", { cx: place.x(i), cy: y - 4, r: 2, class: look });
}

// Returns the shapes of the bottleneck: all encoder states lead into one vector that generates every letter.
function neck({ data, at }, way, read, written, top, wide) {
  const cell = Math.min(4, wide / way.fills.length);
  const left = (wide - cell * way.fills.length) / 2;
  const path = (d, look) => svgShape("path", { d, class: look });
  const rect = (x, y, width, height, look) => svgShape("rect", { x, y, width, height, ...look });
  const [upper, lower] = [top + FALL, top + FALL + NECK_TALL];
  return [
    ...data.read.map((_, j) => path(curve(read.x(j), top, wide / 2, upper), "into")),
    ...way.written.slice(0, at + 1).map((_, i) =>
      path(curve(wide / 2, lower, written.x(i), lower + FALL), i === at ? "out now" : "out"),
    ),
    ...way.fills.map((fill, n) => rect(left + n * cell, upper, cell, NECK_TALL, { fill })),
    rect(left - 1, upper - 1, cell * way.fills.length + 2, NECK_TALL + 2, { rx: 4, class: "frame" }),
  ];
}

/** The lines of attention, from each generated letter to all input letters. @param {View} view */
function threads(view, way, read, written, top, bottom) {
  const drawn = [];
  way.weights.forEach((row, i) => {
    if (i > view.at) return;
    const [least, gain] = i === view.at ? [0.12, 0.88] : [0, 0.16];
    row.forEach((weight, j) => {
      const path = svgShape("path", {
        d: curve(read.x(j), top, written.x(i), bottom),
        class: i === view.at ? "weight now" : "weight",
        style: `stroke-width:${0.5 + 9 * weight}px;--strength:${least + gain * weight}`,
      });
      path.onclick = () => view.trigger("opened", [i, j]);
      drawn.push(path);
    });
  });
  return drawn;
}

// Returns a text about the letter that each model generates now: through one vector, or by attention.
// For attention, the text also names the input letter with the largest weight.
function tell({ data, at }) {
  const parts = data.ways.map((way) => {
    const letter = way.written[at];
    if (letter === undefined) return said(data.text.ended, { name: way.name });
    const mark = way.right[at] === null ? "" : way.right[at] ? " ✓" : " ✗";
    if (!way.weights) return said(data.text.from_one, { name: way.name, letter, mark });
    const most = Math.max(...way.weights[at]);
    const looked = way.weights[at].indexOf(most);
    return said(data.text.from_all, {
      name: way.name, letter, mark, found: data.read[looked], place: looked + 1, share: spellWholePercent(most),
    });
  });
  return [said(data.text.at, { place: at + 1 }), ...parts].join(" ");
}
