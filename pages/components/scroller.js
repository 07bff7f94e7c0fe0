// Brings a drawer into view, each time that it is opened; not when a link opens it. It stands first in the drawer.
// The drawer is still growing then, so what could not be reached at once is tried again, until somebody does anything.
const GROWS_MS = 1500;
const HEADING_PX = 120; // the bar of the page, and the drawer's question

export default function ({ parentElement, data }) {
  if (data.opened <= (window.drawersOpened ?? 0)) return;
  window.drawersOpened = data.opened;
  const place = parentElement.querySelector("div");
  place.style.scrollMarginTop = `${HEADING_PX}px`;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let isLeft = false;
  const leave = () => (isLeft = true);
  for (const taken of ["wheel", "touchstart", "keydown", "pointerdown"]) window.addEventListener(taken, leave, { once: true, capture: true });
  const begun = performance.now();
  let before = null;
  const bring = () => {
    if (isLeft || !place.isConnected || performance.now() - begun > GROWS_MS) return;
    const { top } = place.getBoundingClientRect();
    const isSeen = top > 0 && top < 0.4 * innerHeight;
    if (!isSeen && top === before) place.scrollIntoView({ block: "start", behavior: isCalm ? "auto" : "smooth" });
    before = top; // one that still moves is under way
    requestAnimationFrame(bring);
  };
  bring();
}
