// Draws the flow picture, or its view of all heads, outside the visible page, and returns it as SVG text.
import { copyParts, copyShapes } from "../copies.js";
import { element } from "../dom.js";
import { unpacked } from "../pixels.js";
import { svgText } from "../svg_file.js";
import { formulaLines } from "../svg_formulas.js";
import { Flow, withNumbers } from "./flow.js";
import { partsWithFormula } from "./formulas.js";

const [WIDTH, HEIGHT] = [1280, 680]; // px: size of the picture, whatever the size of the screen

/**
 * @typedef {object} Still a picture to write
 * @property {Uint8Array} flow the data of the flow picture (pages/panels/flow_data.py), packed
 * @property {string | number | null} stop the last step of the keyframe to draw; the number of keyframes; null for all;
 *   "heads", maybe with a second head, for the view of all heads
 * @property {Record<string, import("../svg_formulas.js").FormulaShapes>} formulas by the part that they compute
 * @property {string[]} notes the lines below the picture
 * @property {string} title
 * @property {boolean} transparent whether the background is left out
 */

/**
 * Draws the flow picture inside an element, invisibly, and returns it as the text of an SVG file.
 * @param {Element} parent an element that has the style sheet of the picture
 * @param {Still} still
 * @returns {string}
 */
export function writeStill(parent, { flow: bytes, stop, formulas, notes, title, transparent }) {
  const host = element("div", "flow", { ariaHidden: "true", inert: true });
  host.style.cssText = `position: fixed; left: -${2 * WIDTH}px; top: 0; width: ${WIDTH}px`;
  parent.append(host);
  const flow = new Flow(host);
  flow.isPainted = true; // other components must not take this flow for the page's picture
  flow.heads.fixed = { width: WIDTH, height: HEIGHT };
  const data = withNumbers(unpacked(bytes));
  data.look.stop = typeof stop === "string" ? stop : null;
  flow.show(data);
  if (typeof stop === "number") flow.journey.scrub(stop);
  else flow.exchange.rest(stop);
  flow.drawNow();
  const { drawn, box } = flow.look.view === "heads" ? copyHeads(flow.heads) : copyPicture(flow);
  const below = formulaLines(shownFormulas(flow, formulas), box.width);
  flow.leave();
  host.remove();
  return svgText(drawn, { box, below, notes, title, palette: data.palette, transparent });
}

// Returns the formulas of the keyframe, or of the whole animation at its end; at its start, nothing is computed.
function shownFormulas({ journey, snapshot }, formulas) {
  const { stop, share } = journey.told;
  const parts = stop && !share ? [] : partsWithFormula(stop, snapshot.parts);
  return parts.map((part) => formulas[part.name]).filter(Boolean); // a view of all heads has no formulas
}

const copyPicture = (flow) => ({ drawn: copyShapes(flow.svg), box: boxOf(flow) });

// Returns the maps of all heads, including those scrolled out of sight, and the large map beside them.
// A large map that would only repeat a small one is left out, as is the frame of the selected head.
function copyHeads({ grid, large, legend, differ, tiles, isPlain }) {
  if (isPlain) {
    tiles.forEach((tile) => tile.button.setAttribute("aria-pressed", "false"));
    return copyParts([...grid.children]);
  }
  // written as one text, because the file's font may be wider than the screen's
  differ.replaceChildren(differ.textContent);
  legend.hidden = !legend.querySelector(".more"); // a legend without colours only says where to click, and is hidden
  return copyParts([...(grid.hidden ? [] : grid.children), large]);
}

// Returns the rectangle of the drawn shapes, which may be larger than the picture.
function boxOf({ svg, flowGroup }) {
  const { x, y, width, height } = flowGroup.getBBox();
  const [right, bottom] = [Math.max(Number(svg.getAttribute("width")), x + width), Math.max(0, y + height)];
  const [left, top] = [Math.min(0, x), Math.max(0, y)];
  return { left, top, width: right - left, height: bottom - top };
}
