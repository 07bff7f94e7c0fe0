// Closes a tooltip when the visitor scrolls by touch. A touch on its button opens it by the focus, which stays during
// the scroll. The HTML document contains this script, which runs once.
window.addEventListener(
  "touchmove",
  () => {
    const { activeElement } = document;
    if (activeElement instanceof HTMLElement && activeElement.closest("[data-testid=stTooltipHoverTarget]"))
      activeElement.blur();
  },
  { capture: true, passive: true },
);
