// Shows colours as values of attention: words in their colours, and the colour that heads mix into one word.
// Ribbons from word to word show with which weights each head mixes the colours.
import { button, element, stateOf, svgShape } from "../dom.js";
import { said, spellNumber, spellWholePercent } from "../flow/words.js";
import { roving } from "../roving.js";

/**
 * @typedef {object} Painted
 * @property {string[]} words
 * @property {number} query the word that is selected at first
 * @property {"two" | "one"} shown the run to which the heads belong
 * @property {number[]} own the colour of each word: 1 for black, -1 for white, 0 for none
 * @property {Head[]} heads
 * @property {Record<string, number[] | null>} out run -> the resulting colours; null if it has not been run
 * @property {Record<string, string>} text
 */

/** @typedef {{ name: string, weights: number[][], carried: number[] }} Head carried: the colour from each word */

const WIDE = 1000; // width of the drawing in viewBox units; its height is in pixels
const TALL = 150;
const THICKEST = 30; // px: the width of a ribbon of weight 1
const APART = 76; // viewBox units between two heads' ribbons at the same word
const LEAST_TOLD = 0.1; // weights that are smaller are not named in the text
// colour values from which a chip counts as black, or as white, so that its text is legible (painted.css)
const LEAST_BLACK = 0.28, LEAST_WHITE = 0.22;
const RUNS = { two: "with_two", one: "with_one" };

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Painted} data
 * @property {string} given
 * @property {number} looked the chosen word
 */

/** @param {import("../shared.js").Component<Painted>} component */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".painted");
  root.setAttribute("aria-label", data.text.alt);
  /** @type {View} */
  const view = stateOf(root);
  const given = JSON.stringify([data.words, data.query, data.shown, data.heads, data.own]);
  if (view.given !== given) view.looked = data.query;
  const flows = view.given !== given;
  Object.assign(view, { given, data });
  draw(view, flows);
}

/** @param {View} view */
function draw(view, flows = true) {
  const { data, looked } = view;
  const other = data.shown === "two" ? "one" : "two";
  const own = data.words.map((word, place) => chip(word, data.own[place], data.text));
  const mixed = data.words.map((_, place) => outChip(view, place));
  const others = data.words.map((word, place) =>
    data.out[other] ? chip(word, data.out[other][place], data.text) : unknownChip(word),
  );
  const look = `wall ${flows ? "flows" : ""} ${data.words.length > 8 ? "many" : ""}`;
  const wall = element("div", look, { style: `--count: ${data.words.length}` }, [
    line(data.text.own, own), ribbons(data, looked), line(data.text[RUNS[data.shown]], mixed, "out"),
    line(data.text[RUNS[other]], others, "other"),
  ]);
  const told = element("p", "told", { ariaLive: "polite", textContent: tell(data, looked) });
  roving(view.root, () => view.root.replaceChildren(wall, told), ".out .chip");
}

const line = (title, chips, name = "") =>
  element("div", `line ${name}`, [element("div", "title", title), element("div", "chips", chips)]);

// ---- words ----------------------------------------------------------------------------------------------------------
/** @type {(word: string, colour: number, text: Record<string, string>, made?: HTMLElement) => HTMLElement} */
function chip(word, colour, text, made = element("div", "chip")) {
  const isPainted = Math.abs(colour) >= 0.005;
  made.append(element("b", "", word), element("span", "", isPainted ? spellNumber(colour) : text.unpainted));
  made.classList.toggle("bare", !isPainted);
  made.style.setProperty("--paint", paintOf(colour));
  made.classList.toggle("black", colour > LEAST_BLACK);
  made.classList.toggle("white", colour < -LEAST_WHITE);
  return made;
}

// Returns a colour value as CSS: black if it is positive, else white; the larger its size, the more opaque.
function paintOf(colour) {
  const strength = Math.min(1, Math.abs(colour));
  return colour > 0 ? `rgb(10 10 10 / ${strength})` : `rgb(255 255 255 / ${strength})`;
}

const unknownChip = (word) => element("div", "chip bare", [element("b", "", word), element("span", "", "?")]);

/** @param {View} view */
function outChip(view, place) {
  const { data, looked } = view;
  const isLooked = place === looked;
  const look = { ariaPressed: isLooked, ariaLabel: tell(data, place) };
  const made = button(`chip ${isLooked ? "chosen" : ""}`, look, () => {
    view.looked = place;
    draw(view);
  });
  return chip(data.words[place], data.out[data.shown]?.[place] ?? 0, data.text, made);
}

// Returns the sentence about a word: which words each head attends to most, and the resulting colour.
function tell({ words, heads, out, shown, text }, looked) {
  const flows = heads.map(({ name, weights, carried }) => {
    const told = words.flatMap((word, place) =>
      weights[looked][place] >= LEAST_TOLD ? tellShare(word, weights[looked][place], carried[place], text) : [],
    );
    return said(text.brings, { head: name, shares: told.join(text.comma) });
  });
  return said(text.paints, { word: words[looked], flows: flows.join(text.and), out: spellNumber(out[shown][looked]) });
}

function tellShare(word, weight, carried, text) {
  const paints = Math.abs(carried) >= 0.005 ? said(text.colour, { colour: spellNumber(carried) }) : text.unpainted;
  return said(text.flows, { share: spellWholePercent(weight), word, paints });
}

// ---- ribbons --------------------------------------------------------------------------------------------------------
function ribbons({ words, heads }, looked) {
  const [svg, paints] = ["ribbons", "paints"].map((name) =>
    svgShape("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, preserveAspectRatio: "none", class: name }),
  );
  const field = element("div", "field", [svg, paints]);
  const middle = (place) => (WIDE * (place + 0.5)) / words.length;
  heads.forEach(({ name, weights, carried }, head) => {
    const aside = (head - (heads.length - 1) / 2) * Math.min(APART, WIDE / words.length / 2.4);
    const end = middle(looked) + aside;
    weights[looked].forEach((weight, place) => {
      const start = middle(place) + aside;
      const d = `M${start} 0C${start} ${TALL * 0.6} ${end} ${TALL * 0.4} ${end} ${TALL}`;
      svg.append(svgShape("path", { d, class: "ribbon", "stroke-width": Math.max(1, THICKEST * weight) }));
      if (Math.abs(carried[place]) >= 0.005)
        paints.append(
          svgShape("path", {
            d, class: "paint", stroke: paintOf(carried[place]), "stroke-width": Math.max(0.5, THICKEST * weight - 4),
          }),
        );
      if (weight >= LEAST_TOLD) field.append(label("share", start, spellWholePercent(weight)));
    });
    field.append(label(`head head-${head}`, end, name));
  });
  return element("div", "line between", [element("div", "title"), field]);
}

const label = (name, x, textContent) =>
  element("span", name, { textContent, ariaHidden: true, style: `left: ${(100 * x) / WIDE}%` });
