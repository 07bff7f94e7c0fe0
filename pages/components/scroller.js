// Brings a drawer into view, each time that it is opened; not when a link opens it. It stands first in the drawer.
// The drawer is still growing then, so what could not be reached at once is tried again, until somebody does anything.
import { shared } from "./shared.js";

const GROWS_MS = 1500;
const HEADING_PX = 60; // of the drawer's question, and of the bar over a page

export default function ({ parentElement, data }) {
  if (data.opened <= (shared.openedDrawer ?? 0)) return;
  shared.openedDrawer = data.opened;
  const place = parentElement.querySelector("div");
  const boxes = scrolling(place);
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  let isLeft = false;
  const leave = () => (isLeft = true);
  for (const taken of ["wheel", "touchstart", "keydown", "pointerdown"])
    window.addEventListener(taken, leave, { once: true, capture: true });
  const begun = performance.now();
  let before = null;
  const bring = () => {
    if (isLeft || !place.isConnected || performance.now() - begun > GROWS_MS) return;
    const { top } = place.getBoundingClientRect();
    if (top > HEADING_PX && top < 0.4 * innerHeight) return;
    if (top === before) scrollOne(boxes, top, behavior);
    before = top; // one that still moves is under way
    requestAnimationFrame(bring);
  };
  bring();
}

// What scrolls around an element, from within to the page.
function scrolling(element) {
  const boxes = [];
  for (let box = element; box; box = box.parentNode ?? box.host) {
    if (box instanceof Element && ["auto", "scroll"].includes(getComputedStyle(box).overflowY)) boxes.push(box);
  }
  return boxes;
}

// Scrolls the innermost that can still be scrolled towards it. What stands around one that is seen whole stays where it
// is: a drawer of the pane leaves the picture beside it alone, also while it has not yet grown.
function scrollOne(boxes, top, behavior) {
  for (const box of boxes) {
    const seen = box.getBoundingClientRect();
    const wanted = top - Math.max(0, seen.top) - 2 * HEADING_PX;
    const room = wanted > 0 ? box.scrollHeight - box.clientHeight - box.scrollTop : -box.scrollTop;
    if (Math.abs(wanted) >= 1 && Math.abs(room) >= 1) {
      box.scrollBy({ top: wanted, behavior });
      return;
    }
    if (seen.top >= 0 && seen.bottom <= innerHeight) return;
  }
}
