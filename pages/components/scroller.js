// Scrolls an accordion ("drawer") into view whenever the visitor opens it, but not if a link opens it.
// The component is the accordion's first element, and scrolls again while the accordion grows.
// It also scrolls again while the page above the accordion is still loading, until the visitor acts.
import { shared } from "./shared.js";

const GROWS_MS = 1500;
const HEADING_PX = 60; // px: the height of an accordion's question, and of the bar at the top of a page

/** @param {import("./shared.js").Component<{ opened: number }>} component */
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
  let begun = performance.now();
  let before = null;
  const bring = () => {
    const isArriving = document.documentElement.hasAttribute("data-arriving"); // arrival.js sets data-arriving
    if (isArriving) begun = performance.now();
    if (isLeft || !place.isConnected || performance.now() - begun > GROWS_MS) return;
    const { top } = place.getBoundingClientRect();
    const isThere = top > HEADING_PX && top < 0.4 * innerHeight;
    if (isThere && !isArriving) return;
    if (!isThere && top === before) scrollOne(boxes, top, behavior);
    before = top; // an earlier scroll still moves the accordion
    requestAnimationFrame(bring);
  };
  bring();
}

// Returns the scrollable elements around an element, from the innermost to the page.
function scrolling(element) {
  const boxes = [];
  for (let box = element; box; box = box.parentNode ?? box.host) {
    if (box instanceof Element && ["auto", "scroll"].includes(getComputedStyle(box).overflowY)) boxes.push(box);
  }
  return boxes;
}

// Scrolls the innermost scrollable element that can still move towards the accordion.
// The elements around a fully visible one stay: an accordion in the side panel does not move the picture.
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
