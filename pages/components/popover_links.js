// Closes an open popover (such as the export menu) before a click on a link outside it opens another page.
// Streamlit sends what a click changes only after the click is over. So it would ask for the link's page first, then
// report that the popover of the former page is closed, and the server would draw the former page again.
// The HTML document of the app contains this script, which runs once per document.
{
  const POPOVER = '[data-testid="stPopoverBody"]';
  document.addEventListener(
    "click",
    (event) => {
      const link = event.target instanceof Element && event.target.closest("a[href]");
      if (!event.isTrusted || !(link instanceof HTMLElement) || link.closest(POPOVER)) return;
      if (!document.querySelector(POPOVER)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      document.dispatchEvent(new MouseEvent("click")); // a popover listens at the document for clicks outside it
      setTimeout(() => link.click()); // after Streamlit's own timer, which reports the closed popover
    },
    true,
  );
}
