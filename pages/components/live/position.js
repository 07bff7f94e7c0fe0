// Lets elements follow sliders: they show the position of a dragged slider, else the server's position.
import { hear, shared } from "../shared.js";

/**
 * @typedef {object} Sliders
 * @property {string[]} of the names of the sliders
 * @property {number[]} counts the number of positions of each slider
 * @property {number} position the server's positions of all sliders as one index, in which the last slider varies
 *   fastest
 * @property {Record<string, number>} waits_for the server's positions of other sliders, whose data only it can compute
 */

/** @typedef {(position: number | null) => void} Show draws a position; null if its data are missing */

/** @type {WeakMap<Element, { data: Sliders, show: Show }>} following element -> its sliders and function */
const followers = new WeakMap();

/**
 * Calls `show` with the position of the sliders of an element now, and whenever one of them moves.
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
 * The current position, with that of a dragged slider; null if the data of the position are missing.
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
    const follower = followers.get(root);
    if (!root.isConnected || !follower) return end();
    const { data, show } = follower;
    if (data.of.includes(of) || of in data.waits_for) show(positionHeld(data));
  });
}
