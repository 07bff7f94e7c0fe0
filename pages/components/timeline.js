// Draws a timeline with a small picture of what each year added.
// The selected year has a large picture, a text, and a link to the page of the app that shows what was added.
import { belongs } from "./belongs.js";
import { element, linkTo, setColours, stateOf } from "./dom.js";
import { followPointer } from "./drag.js";
import { drawPicture } from "./small_picture.js";

/**
 * @typedef {object} Timeline
 * @property {Milestone[]} entries
 * @property {number} start the entry with which it opens
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/**
 * @typedef {object} Milestone
 * @property {string} year
 * @property {string} who
 * @property {string} text with **bold** and *slanted* parts
 * @property {string} drawn the caption of the picture
 * @property {any[][]} shapes
 * @property {string} address the address of the page of the app that shows it
 * @property {string} place the title of that page
 * @property {string} key
 */

const MARGIN = 2; // margin of a large picture in viewBox units: half the width of a thick line
/** @param {import("./shared.js").Component<Timeline>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".timeline");
  const view = stateOf(root);
  setColours(root, data.palette);
  view.at = Math.min(view.at ?? data.start, data.entries.length - 1);
  const panel = element("section", "panel", { ariaLive: "polite" });
  const stops = data.entries.map(drawStop);
  const line = element("div", "line", { role: "group", ariaLabel: data.text.line }, stops);
  root.replaceChildren(panel, line);

  const look = (at, follow = true) => {
    view.at = Math.max(0, Math.min(at, stops.length - 1));
    panel.replaceChildren(...drawEntry(data.entries[view.at], data.text, (key) => setTriggerValue("opened", key)));
    fillWithDrawing(panel.querySelector("svg"));
    stops.forEach((stop, i) => {
      stop.ariaCurrent = i === view.at ? "true" : "false";
      stop.tabIndex = i === view.at ? 0 : -1;
      stop.classList.toggle("past", i < view.at);
    });
    const { offsetLeft, offsetWidth } = stops[view.at];
    if (follow) line.scrollLeft = offsetLeft - line.offsetLeft - (line.clientWidth - offsetWidth) / 2;
  };
  const steps = () => ({ ArrowRight: view.at + 1, ArrowLeft: view.at - 1, Home: 0, End: stops.length - 1 });
  const walk = (event) => {
    const next = steps()[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    look(next);
    return true;
  };
  line.onkeydown = (event) => walk(event) && stops[view.at].focus();
  dragAlong(line, stops, look);
  look(view.at);

  const pressed = (event) => {
    // the arrow key moves along the timeline only
    if (event.key.startsWith("Arrow") && !belongs(event) && walk(event)) event.stopPropagation();
  };
  window.addEventListener("keydown", pressed, true);
  return () => window.removeEventListener("keydown", pressed, true);
}

// Selects the year under a pressed or dragged mouse, or under a lifted finger.
function dragAlong(line, stops, look) {
  const under = ({ clientX }) => {
    const boxes = stops.map((stop) => stop.getBoundingClientRect());
    const at = boxes.findIndex(({ right }) => clientX < right);
    return at < 0 ? stops.length - 1 : at;
  };
  const choose = (event) => look(under(event), false);
  line.onpointerdown = (event) => event.pointerType === "mouse" && followPointer(line, event, { move: choose });
  line.onpointerup = choose; // a finger selects when it is lifted, because dragging scrolls the timeline
}

function drawStop({ year, who, shapes }) {
  return element("button", "stop", { type: "button", ariaLabel: `${year} ${who}`, title: who }, [
    drawPicture(shapes), element("span", "mark"), element("span", "year", year),
  ]);
}

function drawEntry({ year, text, drawn, shapes, address, place, key }, words, open) {
  const link = linkTo(address, () => open(key), [`${words.seen} ${place} →`]);
  return [
    element("figure", "large", [drawPicture(shapes), element("figcaption", "", drawn)]),
    element("div", "said", [element("strong", "when", year), element("p", "", marked(text)), link]),
  ];
}

// Crops the viewBox to the drawn shapes plus MARGIN.
function fillWithDrawing(svg) {
  const { x, y, width, height } = svg.getBBox();
  svg.setAttribute("viewBox", [x - MARGIN, y - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN].join(" "));
}

// Returns a text with **bold** and *slanted* parts as a list of elements and strings.
function marked(text) {
  return text.split(/(\*\*.+?\*\*|\*.+?\*)/).map((part) => {
    if (part.startsWith("**")) return element("strong", "", part.slice(2, -2));
    return part.startsWith("*") ? element("em", "", part.slice(1, -1)) : part;
  });
}
