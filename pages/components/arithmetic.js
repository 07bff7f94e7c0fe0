// Shows the arithmetic of one cell: texts and operands. An operand is a button that opens the operand's own cell.
import { button, element, focused, setColours } from "./dom.js";
import { sourcesOf } from "./sources.js";

/**
 * @typedef {object} Arithmetic
 * @property {string} label
 * @property {Place[]} trail the cells from which the visitor came to this one
 * @property {Place[]} pieces texts, and numbers with the step and index of the cell that a click opens
 * @property {{ text: string, family: string }[]} sources the steps from which the numbers come
 * @property {string} from the word before their names
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
  const isWalking = root.contains(focused(root));
  setColours(root, data.colours);
  /** @param {Place} place */
  const follow = ({ step, index }) => () => setTriggerValue("followed", { step, index });
  const trail = data.trail.flatMap((place) => [
    button("", { textContent: place.text, title: place.title }, follow(place)), " › ",
  ]);
  const pieces = data.pieces.map((place) => {
    const { text, title, step, family } = place;
    if (step === undefined) return element("span", "", text);
    const look = { textContent: text, title, ariaLabel: `${text}: ${title}` };
    return button(`operand ${family ?? ""}`, look, follow(place));
  });
  const back = data.trail.length ? [element("nav", "trail", { ariaLabel: data.label }, trail)] : [];
  root.replaceChildren(...back, ...sourcesOf(data), element("div", "sum", pieces));
  if (isWalking) root.querySelector(".operand")?.focus();
}
