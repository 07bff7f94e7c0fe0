// Closes the menu of a phone when a page is chosen in it, because it covers most of that page. The document brings this
// script, and it runs once.
{
  const phone = matchMedia("(max-width: 768px)"); // where Streamlit lays the menu over the page
  const CHOSEN = '[data-testid="stSidebarNavLink"]';
  document.addEventListener("click", ({ target }) => {
    if (!phone.matches || !(target instanceof Element) || !target.closest(CHOSEN)) return;
    /** @type {HTMLElement | null} */
    const close = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
    close?.click();
  });
}
