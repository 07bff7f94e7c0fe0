// What follows sliders shows the position of the one that a hand holds, and the server's when it is let go.
import { hear, shared } from "../shared.js";

/**
 * @typedef {object} Sliders
 * @property {string[]} of names of the sliders
 * @property {number[]} counts how many positions each has
 * @property {number} position where the server says that they stand: all positions of the last one, for each one of the
 *   slider before it, and so on
 * @property {Record<string, number>} waits_for where other sliders stand that are waited for
 */

/** @typedef {(position: number | null) => void} Show draws a position; null if its data are still to come */

/** @type {WeakMap<Element, { data: Sliders, show: Show }>} by the element that follows */
const followers = new WeakMap();

/**
 * Shows the position of sliders in an element now, and whenever one of them moves.
 * @param {HTMLElement | SVGElement} root
 * @param {Sliders} data
 * @param {Show} show
 */
export function followSlider(root, data, show) {
  const isNew = !followers.has(root);
  followers.set(root, { data, show });
  show(positionHeld(data));
  if (isNew) listenToSliders(root);
}

/**
 * The position while a slider is held; null if its data are still to come.
 * @param {Sliders} sliders
 * @returns {number | null}
 */
export function positionHeld({ of, counts, position, waits_for: waitsFor }) {
  const held = shared.heldSlider;
  if (!held) return position;
  if (held.of in waitsFor) return held.position === waitsFor[held.of] ? position : null;
  const which = of.indexOf(held.of);
  if (which < 0) return position;
  const stride = counts.slice(which + 1).reduce((one, other) => one * other, 1);
  const own = Math.floor(position / stride) % counts[which];
  return position + (held.position - own) * stride;
}

function listenToSliders(root) {
  const end = hear("slider-moved", ({ of }) => {
    const { data, show } = followers.get(root);
    if (!root.isConnected) end();
    else if (data.of.includes(of) || of in data.waits_for) show(positionHeld(data));
  });
}
