// Brings the opened step into view, each time that a cell or a small map is clicked; not when a link is opened.
export default function ({ parentElement, data }) {
  const last = window.attentionOpened ?? 0;
  window.attentionOpened = data.opened;
  if (data.opened <= last) return;
  const place = parentElement.querySelector(".scroller");
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const seen = place.getBoundingClientRect().top < 0.6 * window.innerHeight;
  if (!seen) place.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}
