// Closes a tooltip when the visitor scrolls by touch.
// A touch on a tooltip's button focuses the button, which would keep the tooltip open during the scroll.
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
