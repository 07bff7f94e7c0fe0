// Brings the opened step into view, each time that a cell or a small map is clicked; not when a link is opened.
// The page is still growing then, so what could not be reached at once is tried again, until somebody scrolls.
const GROWS = 1500; // milliseconds

export default function ({ data }) {
  const last = window.attentionOpened ?? 0;
  window.attentionOpened = data.opened;
  if (data.opened <= last) return;
  const place = document.querySelector(".st-key-pickers"); // with which the opened step begins
  place.style.scrollMarginTop = "64px"; // below the bar of the page
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const bring = () => {
    const { top } = place.getBoundingClientRect();
    const seen = top > 0 && top < 0.6 * window.innerHeight;
    if (!seen) place.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  };
  const growing = new ResizeObserver(bring); // calls it once at the start
  const stop = () => growing.disconnect();
  growing.observe(document.querySelector("[data-testid=stMainBlockContainer]"));
  for (const taken of ["wheel", "touchstart", "keydown", "pointerdown"]) {
    window.addEventListener(taken, stop, { once: true, capture: true });
  }
  setTimeout(stop, GROWS);
}
