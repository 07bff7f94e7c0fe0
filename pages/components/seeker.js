// Brings the control that was searched for into view, gives it the focus, and frames it for a moment. What it stands in
// may still be opening: it is looked for until it is there, or somebody does anything else.
const PATIENCE_MS = 6000;
const FRAMED_MS = 2500;

export default function ({ data }) {
  if (!data.widget || data.turn <= (window.controlsSought ?? 0)) return;
  window.controlsSought = data.turn;
  const begun = performance.now();
  const find = () => document.querySelector(`.st-key-${data.widget}, [class*="st-key-${data.widget}_"]`);
  let isLeft = false;
  const leave = () => (isLeft = true);
  for (const taken of ["wheel", "touchstart", "keydown", "pointerdown"]) window.addEventListener(taken, leave, { once: true, capture: true });
  const bring = () => {
    if (isLeft || performance.now() - begun > PATIENCE_MS) return;
    const box = find();
    if (!box || box.getBoundingClientRect().height === 0) {
      setTimeout(bring, 100);
      return;
    }
    box.scrollIntoView({ block: "center" });
    box.querySelector("input, button, textarea, [tabindex='0']")?.focus({ preventScroll: true });
    box.style.outline = "3px solid #b05a00";
    box.style.outlineOffset = "4px";
    setTimeout(() => box.style.removeProperty("outline"), FRAMED_MS);
  };
  bring();
}
