// Writes short formulas whose indices stand low, as in "x W_q", into HTML and into SVG.
import { element, svgShape } from "./dom.js";
import { withIndices } from "./flow/words.js";

const SIZE = 0.75; // size of an index, in sizes of the letters beside it
const DROP = 0.22; // how far an index stands below the line, in sizes of the letters beside it

/** The parts of a formula, for an HTML element. @type {(formula: string) => (Node | string)[]} */
export const formulaParts = (formula) =>
  withIndices(formula).map(([text, look]) => (look ? element("sub", "", text) : text));

/**
 * Writes a formula into the text of a picture, unless it stands there already.
 * @param {SVGElement} shape
 * @param {string} formula
 */
export function writeFormula(shape, formula) {
  if (shape.dataset.formula === formula) return;
  shape.dataset.formula = formula;
  let isLow = false; // where the last part left the line
  const parts = withIndices(formula).map(([text, look]) => {
    const isIndex = look !== "";
    const drop = isIndex === isLow ? "0" : `${isIndex ? DROP / SIZE : -DROP}em`;
    isLow = isIndex;
    return svgShape("tspan", { dy: drop, ...(isIndex && { "font-size": `${SIZE}em` }) }, text);
  });
  shape.replaceChildren(...parts);
}
