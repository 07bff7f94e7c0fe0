// Draws the flow picture, or its view of all heads, outside the visible page, and returns it as the text of an SVG
// file.
import { copyParts, copyShapes } from "../copies.js";
import { element } from "../dom.js";
import { unpacked } from "../pixels.js";
import { svgText } from "../svg_file.js";
import { Flow, withNumbers } from "./flow.js";

const [WIDTH, HEIGHT] = [1280, 680]; // px: size of the picture, whatever the size of the screen

/**
 * @typedef {object} Still a picture to write
 * @property {Uint8Array} flow the data of the flow picture (pages/panels/flow_data.py), packed
 * @property {string | number | null} stop the last step of the keyframe to draw; the number of keyframes; null for all
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
export function writeStill(parent, { flow: bytes, stop, notes, title, transparent }) {
  const host = element("div", "flow", { ariaHidden: "true", inert: true });
  host.style.cssText = `position: fixed; left: -${2 * WIDTH}px; top: 0; width: ${WIDTH}px`;
  parent.append(host);
  const flow = new Flow(host);
  flow.isPainted = true; // tells other components that this is not the picture of the page
  flow.heads.fixed = { width: WIDTH, height: HEIGHT };
  const data = withNumbers(unpacked(bytes));
  flow.show(data);
  if (typeof stop === "number") flow.journey.scrub(stop);
  else flow.exchange.rest(stop);
  flow.drawNow();
  const { drawn, box } = flow.look.view === "heads" ? copyHeads(flow.heads) : copyPicture(flow);
  flow.leave();
  host.remove();
  return svgText(drawn, { box, notes, title, palette: data.palette, transparent });
}

const copyPicture = (flow) => ({ drawn: copyShapes(flow.svg), box: boxOf(flow) });

// Returns the maps of all heads, also those scrolled out of sight, and the large map beside them.
function copyHeads({ grid, large, legend }) {
  legend.hidden = !legend.querySelector(".more"); // without colours, the legend only says what one can click
  return copyParts([...(grid.hidden ? [] : grid.children), large]);
}

// Returns the rectangle of the drawn shapes, which may extend beyond the picture's own.
function boxOf({ svg, flowGroup }) {
  const { x, y, width, height } = flowGroup.getBBox();
  const [right, bottom] = [Math.max(Number(svg.getAttribute("width")), x + width), Math.max(0, y + height)];
  const [left, top] = [Math.min(0, x), Math.max(0, y)];
  return { left, top, width: right - left, height: bottom - top };
}
