// Shows scores as dots whose spread follows a slider: one row for q · k, and one for q · k / √width.
// Numbered dots are the scores of one sample; the thermometer beside a row shows the gradient.
import { element, setAttributes, setColours, stateOf, svgShape } from "../dom.js";
import { followSlider } from "../live/position.js";
import { plain } from "../rounded.js";

/** @typedef {import("../live/position.js").Sliders} Sliders */

/**
 * @typedef {object} Cloud
 * @property {Record<"dot" | "scaled_dot", Lane | undefined>[]} widths the lanes at each position of the slider
 * @property {string[]} told the label for a screen reader at each position
 * @property {number} reach the score at the end of a lane
 * @property {number} most the gradient at which the thermometer is full
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/**
 * @typedef {object} Lane
 * @property {number[]} scores the scores in ascending order
 * @property {number[]} draw the scores of one sample
 * @property {string} spread
 * @property {number} gradient
 * @property {string} written the gradient as a text
 */

const GOLDEN = 0.618034; // golden ratio - 1; its multiples spread the dots evenly over the height
const LANES = ["dot", "scaled_dot"];
const MIDDLE = 42; // px: half the height of a row of dots
const NUMBERED = 8; // most keys whose dots have numbers
const ROWS = [0, 2, 4, 1, 3]; // the row of each rank of a numbered dot, so that neighbours do not cover each other
const ROW = 16.5; // px: from one row of numbered dots to the next

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Cloud} data
 * @property {any[]} lanes
 * @property {string} drawn the data from which the lanes were built, as JSON
 */

/** @param {import("../shared.js").Component<Sliders & Cloud>} component */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".cloud");
  setColours(root, data.palette, ["ink", "faint", "ground", "plus", "share", "k"]);
  /** @type {View} */
  const view = stateOf(root);
  view.data = data;
  const drawn = JSON.stringify([Object.keys(data.widths[0]), data.text, data.widths[0].dot?.draw.length]);
  if (view.drawn !== drawn) build(view, data);
  view.drawn = drawn;
  followSlider(root, data, (position) => {
    root.classList.toggle("waits", position === null);
    if (position !== null) spread(view, position);
  });
}

/** @param {View} view */
function build(view, { widths, reach, text }) {
  view.lanes = LANES.map((score) => lane(score, widths[0][score], text));
  const axis = [-1, -0.5, 0, 0.5, 1].map((share) =>
    element("span", "", { textContent: plain(share * reach), style: `left: ${50 + 48 * share}%` }),
  );
  view.root.replaceChildren(...view.lanes.map((lane) => lane.root), element("div", "axis", axis));
}

/** A lane: its element and the parts that follow the slider; only the element if its score is hidden. */
function lane(score, first, text) {
  const spread = element("span", "spread");
  const title = element("div", "title", [element("strong", "", text[score]), spread]);
  const name = `lane ${score}`;
  if (!first) return { root: element("div", name, [title, element("div", "field hidden", text.hidden)]) };
  const field = svgShape("svg", { class: "field" });
  const dots = first.scores.map((_, place) => dot(field, "score", 3, heightOf(place, first.scores.length)));
  const draw = first.draw.map((_, place) => numbered(field, place, first.draw.length));
  const [mercury, written] = [element("div", "mercury"), element("strong")];
  const heat = element("div", "thermometer", [
    element("div", "tube", [mercury]), element("div", "level", [written, element("span", "", text.gradient)]),
  ]);
  return { root: element("div", name, [title, field, heat]), spread, dots, draw, mercury, written };
}

function dot(field, name, r, cy) {
  return field.appendChild(svgShape("circle", { class: name, r, cy, cx: "50%" }));
}

// Returns the dot that shows one key's score in the sample.
// The dot has the number of its key unless there are many keys.
function numbered(field, place, count) {
  if (count > NUMBERED) return [dot(field, "key", 4, 4 + (2 * (MIDDLE - 4) * (place + 0.5)) / count)];
  return [dot(field, "key", 7.5, MIDDLE), field.appendChild(svgShape("text", {}, place + 1))];
}

/**
 * The heights of numbered dots, of which those of neighbouring scores stand in different rows.
 * @type {(draw: number[]) => number[]}
 */
export function rowsOf(draw) {
  const ranked = draw.map((_, place) => place).sort((one, other) => draw[one] - draw[other]);
  const middle = (ROWS.length - 1) / 2;
  return draw.map((_, place) => MIDDLE + ROW * (ROWS[ranked.indexOf(place) % ROWS.length] - middle));
}

// Returns the y position of the dot of a rank; the many scores near the middle are spread more.
function heightOf(place, count) {
  const rank = (place + 0.5) / count;
  return MIDDLE + (((place * GOLDEN) % 1) - 0.5) * 78 * Math.sqrt(4 * rank * (1 - rank));
}

/** @param {View} view */
function spread(view, position) {
  const { widths, told, reach, most } = view.data;
  view.root.setAttribute("aria-label", told[position]);
  const across = (score) => `${50 + 48 * Math.max(-1, Math.min(1, score / reach))}%`;
  LANES.forEach((score, row) => {
    const [lane, now] = [view.lanes[row], widths[position][score]];
    if (!now) return;
    lane.dots.forEach((dot, place) => (dot.style.cx = across(now.scores[place])));
    const heights = rowsOf(now.draw);
    lane.draw.forEach(([circle, name], place) => {
      circle.style.cx = across(now.draw[place]);
      if (!name) return;
      circle.style.cy = `${heights[place]}px`;
      setAttributes(name, { x: across(now.draw[place]), y: heights[place] + 4 });
    });
    lane.spread.textContent = now.spread;
    lane.mercury.style.height = `${(100 * now.gradient) / most}%`;
    lane.written.textContent = now.written;
  });
}
