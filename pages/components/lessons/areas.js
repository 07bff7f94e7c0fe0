// Draws the costs of attention for each text length up to the chosen one, as areas on one scale of multiply-adds.
// The cost of all pairs of tokens is a square with a side of one unit per token; that of single tokens is a stripe.
// Each square and stripe contains the square and the stripe of the previous length.
import { added, addedShape, element, onResize, setColours, stateOf, svgShape } from "../dom.js";
import { followSlider } from "../live/position.js";

/** @typedef {import("../live/position.js").Sliders} Sliders */

/**
 * @typedef {object} Areas
 * @property {number[]} lengths the text length at each position of the slider
 * @property {string[]} written the lengths as texts
 * @property {number[]} pairs multiply-adds of all pairs at each length
 * @property {number[]} tokens multiply-adds of all tokens at each length
 * @property {[string, string][][]} told at each length, [name, sentence] for the pairs and for the tokens
 * @property {Record<string, string>} palette
 * @property {string} alt
 */

const HIGH = 334, FOOT = 24; // px: side of the largest square, height of the text below it
const WIDE = 640; // px: in a narrower picture, only the last two lengths are shown

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Areas} data
 * @property {SVGElement} svg
 * @property {HTMLElement} told
 * @property {number} at the position of the slider
 */

/** @param {import("../shared.js").Component<Sliders & Areas>} component */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".areas");
  /** @type {View} */
  const view = stateOf(root);
  setColours(root, data.palette, ["ink", "share", "x"]);
  view.svg ??= addedShape(root, "svg", { role: "img" });
  view.told ??= added(root, "div", "told");
  onResize(root, () => draw(view));
  view.svg.setAttribute("aria-label", data.alt);
  followSlider(root, data, (position) => {
    Object.assign(view, { data, at: position });
    draw(view);
  });
}

/** @param {View} view */
function draw(view) {
  const { data, svg, told, at } = view;
  const wide = view.root.clientWidth;
  if (!wide) return;
  const shown = data.lengths.map((_, i) => i).slice(wide < WIDE ? Math.max(0, at - 1) : 0, at + 1);
  const place = placed(data, shown, wide);
  svg.setAttribute("viewBox", `0 0 ${wide} ${place.side + FOOT}`);
  svg.replaceChildren(...shown.flatMap((each, i) => drawn(data, each, place, place.left[i])));
  told.replaceChildren(...data.told[at].map((texts, i) => spoken(texts, i ? "tokens" : "pairs")));
}

// Returns the layout of the squares in px.
// side: side of the largest square. gap: distance to its stripe. left: the x of each length. unit: the side of a token.
function placed({ lengths, pairs, tokens }, shown, wide) {
  const [between, gap] = wide < WIDE ? [14, 4] : [40, 6];
  const last = lengths[shown.at(-1)];
  // the width for each length, as a multiple of the largest side
  const parts = shown.map((each) => (lengths[each] / last) * (1 + tokens[each] / pairs[each]));
  const room = wide - gap * shown.length - between * (shown.length - 1);
  const side = Math.min(HIGH, room / parts.reduce((one, other) => one + other, 0));
  const left = [];
  parts.reduce((x, part) => (left.push(x), x + part * side + gap + between), 0);
  return { side, gap, left, unit: side / last };
}

// Returns the shapes of one text length: a square and a stripe, each with that of half the length inside, and a label.
function drawn({ lengths, written, pairs, tokens }, each, { side, gap, unit }, left) {
  const high = unit * lengths[each], top = side - high;
  const thin = (high * tokens[each]) / pairs[each];
  const area = (name, x, y, width, height) => svgShape("rect", { class: name, x, y, width, height });
  return [
    area("pairs", left, top, high, high),
    area("pairs before", left, top + high / 2, high / 2, high / 2),
    area("tokens", left + high + gap, top, thin, high),
    area("tokens before", left + high + gap, top + high / 2, thin, high / 2),
    svgShape("text", { x: left + high / 2, y: side + FOOT - 6, "text-anchor": "middle" }, written[each]),
  ];
}

const spoken = ([name, text], kind) =>
  element("p", kind, [element("span", "colour"), element("strong", "", name), text]);
