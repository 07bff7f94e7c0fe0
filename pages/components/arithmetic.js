// The arithmetic of one cell: texts, and numbers as buttons that open the cell from which each number comes.
import { setColours } from "./dom.js";

/**
 * @typedef {object} Arithmetic
 * @property {string} label
 * @property {Place[]} trail the cells from which the visitor came to this one
 * @property {Place[]} pieces texts, and numbers with the step and index of the cell that a click opens
 * @property {Record<string, string>} colours
 */

/**
 * @typedef {object} Place
 * @property {string} text
 * @property {string} [title]
 * @property {string} [step]
 * @property {number[]} [index]
 * @property {string} [family]
 */

/** @param {import("./shared.js").Component<Arithmetic>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".arithmetic");
  const walking = root.contains(root.getRootNode().activeElement);
  root.replaceChildren();
  setColours(root, data.colours);
  const trail = document.createElement("nav");
  trail.className = "trail";
  trail.setAttribute("aria-label", data.label);
  data.trail.forEach((place) => {
    const back = document.createElement("button");
    back.type = "button";
    back.textContent = place.text;
    back.title = place.title;
    back.onclick = () => setTriggerValue("followed", { step: place.step, index: place.index });
    trail.append(back, " › ");
  });
  if (data.trail.length) root.append(trail);
  const sum = document.createElement("div");
  sum.className = "sum";
  root.append(sum);
  data.pieces.forEach((piece) => {
    const leads = piece.step !== undefined;
    const part = document.createElement(leads ? "button" : "span");
    part.textContent = piece.text;
    if (leads) {
      part.setAttribute("type", "button");
      part.className = "operand " + (piece.family || "");
      part.title = piece.title;
      part.setAttribute("aria-label", piece.text + ": " + piece.title);
      part.onclick = () => setTriggerValue("followed", { step: piece.step, index: piece.index });
    }
    sum.append(part);
  });
  if (walking) root.querySelector(".operand")?.focus();
}
