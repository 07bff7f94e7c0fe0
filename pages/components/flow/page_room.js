// Measures the height of the window that is left for the picture below everything that stands above it.

const SCROLLED = '[data-testid="stMain"]'; // the part of the page that scrolls

/**
 * The height in px between the lower edge of an element and that of the window, while the page is not scrolled.
 * @param {Element} element
 */
export function heightBelow(element) {
  const scrolled = document.querySelector(SCROLLED)?.scrollTop ?? 0;
  return window.innerHeight - element.getBoundingClientRect().bottom - scrolled;
}
