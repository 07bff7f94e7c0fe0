// Places formulas, which the server has typeset as shapes, in lines below a picture in an SVG file.
import { svgShape } from "./dom.js";

const GAP = 44; // px between two formulas in a line
const LINE_GAP = 12; // px of space above each line of formulas, and below the last
const ROUNDING = 0.01; // px
const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {object} FormulaShapes a formula as attention_core/documents/formulas.py typesets it, its baseline at y = 0
 * @property {string} svg
 * @property {number} left of the rectangle that it fills, in px
 * @property {number} top
 * @property {number} width
 * @property {number} height
 */

/**
 * Returns formulas as shapes below y = 0, and the height that they take. Those in a line stand on one baseline; one
 * that is wider than a line is made smaller.
 * @param {FormulaShapes[]} formulas
 * @param {number} width of a line, in px
 * @returns {{ drawn: SVGElement[], height: number }}
 */
export function formulaLines(formulas, width) {
  let y = 0;
  const drawn = linesOf(formulas.map((formula) => fitted(formula, width)), width).flatMap((line) => {
    const above = Math.max(...line.map(({ formula, scale }) => -formula.top * scale));
    const below = Math.max(...line.map(({ formula, scale }) => (formula.top + formula.height) * scale));
    const baseline = y + LINE_GAP + above;
    y = baseline + below;
    return line.map(({ formula, scale, x }) => {
      const transform = `translate(${x - formula.left * scale},${baseline}) scale(${scale})`;
      return svgShape("g", { transform }, [shapesOf(formula.svg)]);
    });
  });
  return { drawn, height: drawn.length ? y + LINE_GAP : 0 };
}

const fitted = (formula, width) => ({ formula, scale: Math.min(1, width / formula.width) });

// Breaks fitted formulas into lines of at most this width; each gets its x.
function linesOf(formulas, width) {
  /** @type {{ formula: FormulaShapes, scale: number, x: number }[][]} */
  const lines = [];
  let x = 0;
  for (const { formula, scale } of formulas) {
    const wide = formula.width * scale;
    if (!lines.length || x + wide > width + ROUNDING) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1)?.push({ formula, scale, x });
    x += wide + GAP;
  }
  return lines;
}

/** @type {(svg: string) => any} */
const shapesOf = (svg) =>
  new DOMParser().parseFromString(`<g xmlns="${SVG}">${svg}</g>`, "image/svg+xml").documentElement.firstChild;
