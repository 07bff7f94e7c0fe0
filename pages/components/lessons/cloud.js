// Shows scores as dots whose spread follows a slider: one row for q · k, and one for q · k / √width.
// Numbered dots are the scores of one sample; the thermometer beside a row shows the gradient.
import { element, setColours, stateOf, svgShape } from "../dom.js";
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
// The dot has the number of its key unless there are more than 8 keys.
function numbered(field, place, count) {
  const y = 4 + (2 * (MIDDLE - 4) * (place + 0.5)) / count;
  const circle = dot(field, "key", count > 8 ? 4 : 7.5, y);
  if (count > 8) return [circle];
  return [circle, field.appendChild(svgShape("text", { y: y + 4 }, place + 1))];
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
    lane.draw.forEach(([circle, name], place) => {
      circle.style.cx = across(now.draw[place]);
      if (name) name.setAttribute("x", across(now.draw[place]));
    });
    lane.spread.textContent = now.spread;
    lane.mercury.style.height = `${(100 * now.gradient) / most}%`;
    lane.written.textContent = now.written;
  });
}
