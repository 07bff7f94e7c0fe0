// Scrolls to the control that the visitor searched for, focuses it, and frames it for a moment.
// The control's accordion may still be opening, so the search for it is repeated for some time.
// The repetition also ends if the visitor acts.
import { shared } from "./shared.js";

const PATIENCE_MS = 6000;
const FRAMED_MS = 2500;

/** @param {import("./shared.js").Component<{ widget: string, turn: number, colour: string }>} component */
export default function ({ data }) {
  if (!data.widget || data.turn <= (shared.soughtControl ?? 0)) return;
  shared.soughtControl = data.turn;
  const begun = performance.now();
  const find = () => {
    const boxes = [...document.querySelectorAll(`.st-key-${data.widget}, [class*="st-key-${data.widget}_"]`)];
    return boxes.find(findControl) ?? boxes[0];
  };
  let isLeft = false;
  const leave = () => (isLeft = true);
  for (const taken of ["wheel", "touchstart", "keydown", "pointerdown"])
    window.addEventListener(taken, leave, { once: true, capture: true });
  const bring = () => {
    if (isLeft || performance.now() - begun > PATIENCE_MS) return;
    const box = find();
    if (!box || box.getBoundingClientRect().height === 0) {
      setTimeout(bring, 100);
      return;
    }
    (openerOf(box) ?? box).scrollIntoView({ block: "center" });
    hold(box, performance.now());
  };
  // Keeps the control in view and focused for a moment.
  // The focus is set repeatedly, because content above may still open, and the control may be redrawn.
  const hold = (box, from) => {
    box.style.outline = `3px solid ${data.colour}`;
    box.style.outlineOffset = "4px";
    if (isLeft || performance.now() - from > FRAMED_MS) {
      box.style.removeProperty("outline");
      return;
    }
    for (const part of [openerOf(box), box]) part?.scrollIntoView({ block: "nearest" });
    if (!box.contains(document.activeElement)) findControl(box)?.focus({ preventScroll: true });
    setTimeout(() => hold(find() ?? box, from), 100);
  };
  bring();
}

// Returns the button of the popover that contains a control; undefined if no popover contains the control.
// The popover is outside the element that scrolls, and keeps its position at the button.
function openerOf(box) {
  return box.closest("[data-testid=stPopoverBody]") &&
    document.querySelector("[data-testid=stPopoverButton][aria-expanded=true]");
}

// Returns the first focusable element, other than a help icon, of a control or of the component in it.
function findControl(box) {
  const roots = [box, ...[...box.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])];
  const found = roots.flatMap((root) => [...root.querySelectorAll("input, button, textarea, [tabindex='0']")]);
  return found.find((each) => !each.closest("[data-testid=stWidgetLabel], [data-testid=stTooltipIcon]"));
}
