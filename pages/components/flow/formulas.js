// Shows the formulas of the vectors, scores or weights that the current keyframe computes.
// The formulas appear beside the query's vectors (the "lane" below the rows of the keys), late in each keyframe.
// Each symbol of a formula has the colour of the vector, score or weight that it stands for.
import { clamp } from "./motion.js";
import { LEAST_LABEL } from "./words.js";

const INDEX_SIZE = 0.7; // font size of an index, as a share of the formula's; on a phone indices are legible or omitted
const MATHML = "http://www.w3.org/1998/Math/MathML";
const FORMULA_COMES = [0.55, 0.8]; // the formula fades in between these shares of a keyframe's duration
const FORMULA_SIZE = 24; // px
const LEGIBLE_FORMULA_SIZE = 18; // px: if the formulas side by side would have a smaller font, they are stacked

export class Formulas {
  constructor(root) {
    this.root = root;
    this.made = new Map(); // formulas of a keyframe, as JSON -> the MathML elements of the formulas, and their widths
  }

  // Draws the formulas. told: the current keyframe and its progress (Journey.told); null hides the formulas.
  draw(told, parts, layout) {
    const opacity = told?.stop ? clamp((told.share - FORMULA_COMES[0]) / (FORMULA_COMES[1] - FORMULA_COMES[0])) : 0;
    this.root.hidden = opacity === 0;
    if (this.root.hidden) return;
    this.write(told.stop, parts);
    const [start, end] = this.room(layout);
    const fitting = (width) => (FORMULA_SIZE * (end - start)) / width;
    const isStacked = fitting(this.width) < LEGIBLE_FORMULA_SIZE;
    const most = isStacked ? LEGIBLE_FORMULA_SIZE : FORMULA_SIZE;
    const size = Math.min(most * Math.max(1, layout.unit), fitting(isStacked ? this.widest : this.width));
    const least = layout.frame.compact ? LEAST_LABEL / INDEX_SIZE : LEAST_LABEL;
    this.root.hidden = size < least;
    this.root.classList.toggle("stacked", isStacked);
    Object.assign(this.root.style, { opacity, left: `${end}px`, top: `${layout.laneY}px`, fontSize: `${size}px` });
  }

  // Shows the formulas of a keyframe; their elements are created and measured only at the first time.
  write(stop, parts) {
    if (stop === this.stop) return;
    this.stop = stop;
    const shown = partsWithFormula(stop, parts);
    const key = JSON.stringify(shown.map(({ formula }) => formula));
    if (!this.made.has(key)) this.made.set(key, this.make(shown));
    const { elements, width, widest } = this.made.get(key);
    this.root.replaceChildren(...elements);
    this.width = width;
    this.widest = widest;
  }

  // Creates MathML elements; returns them with their total width side by side and the largest width, at FORMULA_SIZE.
  make(shown) {
    const elements = shown.map(({ formula }) => {
      const math = document.createElementNS(MATHML, "math");
      math.append(elementOf(formula));
      return math;
    });
    this.root.replaceChildren(...elements);
    this.root.style.fontSize = `${FORMULA_SIZE}px`;
    this.root.classList.remove("stacked");
    const widths = elements.map((element) => element.getBoundingClientRect().width);
    return { elements, width: this.root.scrollWidth, widest: Math.max(0, ...widths) };
  }

  // Returns the free horizontal range of the query's lane, [left, right] in px, in which formulas have room.
  // The free range lies between the query's vectors and the ribbons that lead to the output.
  room({ parts, x, w, unit, frame }) {
    const own = parts.filter((part) => part.role === "lane" && !part.after);
    const start = Math.max(frame.wordWidth, ...own.map((part) => x[part.name] + w[part.name]));
    const shares = parts.find((part) => part.is_share);
    const hasRibbons = parts.some((part) => part.mixes);
    return [start + 44 * unit, hasRibbons ? x[shares.name] + 50 * unit : frame.width - 14 * unit];
  }
}

/**
 * The parts whose formulas belong to a keyframe; of the whole journey (null) all that have one.
 * @param {import("./journey.js").Stop | null} stop
 * @param {import("./model.js").Part[]} parts
 */
export function partsWithFormula(stop, parts) {
  const written = parts.filter((part) => part.formula);
  if (!stop) return written;
  // The softmax has two keyframes; its formula is shown only at the second, when the exponentials are there.
  return written.filter((part) => stop.parts.includes(part.name) && stop.motion !== "power");
}

// Creates a MathML element from a description of the core: [name, attributes, children].
function elementOf([name, attributes, children]) {
  const element = document.createElementNS(MATHML, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.map((child) => (typeof child === "string" ? child : elementOf(child))));
  return element;
}
