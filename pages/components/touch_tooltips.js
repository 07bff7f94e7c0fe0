// Closes a tooltip when the visitor scrolls by touch; a touch on its button has opened it by the focus, which would
// stay.
// The HTML document of the app contains this script, which runs once per document.
window.addEventListener(
  "touchmove",
  () => {
    const { activeElement } = document;
    if (activeElement instanceof HTMLElement && activeElement.closest("[data-testid=stTooltipHoverTarget]"))
      activeElement.blur();
  },
  { capture: true, passive: true },
);
