// Makes a group of buttons a single stop of the Tab key (roving tabindex).
import { focused } from "./dom.js";

/**
 * Makes a row of buttons one stop of the Tab key; the arrow keys, Home and End move the focus within it.
 * @param {HTMLElement} root
 * @param {() => void} fill creates the buttons again; the focus stays on the button with the same index
 * @param {string} [selector] which elements are the buttons
 * @param {() => number} [columns] the number of buttons in a line of a grid; 0 for a single row
 */
export function roving(root, fill, selector = "button", columns = () => 0) {
  /** @returns {HTMLElement[]} */
  const buttons = () => Array.from(root.querySelectorAll(selector));
  const before = buttons().findIndex((each) => each === focused(root));
  fill();
  const row = buttons();
  const stop = before >= 0 ? before : Math.max(row.findIndex((each) => each.matches(".chosen")), 0);
  row.forEach((each, i) => (each.tabIndex = i === stop ? 0 : -1));
  if (before >= 0) row[before]?.focus();
  root.onkeydown = (event) => {
    const at = row.findIndex((each) => each === focused(root));
    const line = columns();
    const lines = line ? { ArrowDown: at + line, ArrowUp: at - line } : {};
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: row.length - 1, ...lines }[event.key];
    if (at < 0 || !row[next]) return;
    row[at].tabIndex = -1;
    row[next].tabIndex = 0;
    row[next].focus();
    event.preventDefault();
  };
}
