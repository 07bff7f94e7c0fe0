// Shows a check mark at the right end of each accordion ("drawer") that was opened in this browser.
import { keepDrawers, readDrawers } from "./kept_progress.js";

/**
 * @typedef {object} Drawers
 * @property {string[]} drawn the keys of the accordions ("drawers") of this page
 * @property {string[]} opened the keys of the open accordions
 * @property {string} said the text of the check mark for a screen reader
 */

/** @param {{ parentElement: HTMLElement, data: Drawers }} component */
export default function ({ parentElement, data: { drawn, opened, said } }) {
  const seen = readDrawers();
  opened.forEach((key) => seen.add(key));
  if (opened.length) keepDrawers(seen);
  const style = parentElement.querySelector("style") ?? parentElement.appendChild(document.createElement("style"));
  const tick = `content: "\u2713" / ${JSON.stringify(said)}; margin-left: auto; padding-right: 4px; opacity: 0.7;`;
  const places = drawn
    .filter((key) => seen.has(key))
    .map((key) => `.st-key-${key.replace(/[^\w-]/g, "-")} summary::after`);
  style.textContent = places.length ? `${places.join(", ")} { ${tick} }` : "";
}
