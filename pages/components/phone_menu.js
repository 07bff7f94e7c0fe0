// Closes the menu on a phone when the visitor chooses a page in it, because it covers most of that page.
// The HTML document of the app contains this script, which runs once per document.
{
  const phone = matchMedia("(max-width: 768px)"); // up to this width, Streamlit lays the menu over the page
  const CHOSEN = '[data-testid="stSidebarNavLink"]';
  document.addEventListener("click", ({ target }) => {
    if (!phone.matches || !(target instanceof Element) || !target.closest(CHOSEN)) return;
    /** @type {HTMLElement | null} */
    const close = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
    close?.click();
  });
}
