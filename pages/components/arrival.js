// Shows a page from the top down while it loads: below the first element that is not drawn yet, page.css hides all, so
// that nothing in sight is pushed away; likewise when another page of the app is opened. The document brings this
// script, and it runs once.
{
  const LONGEST_MS = 5000; // an element that is not drawn so long after the one before is not waited for
  const CALM_FRAMES = 3; // an element has its height, and a page is there, if nothing changed in so many frames
  const ARRIVING = "data-arriving"; // on the document, until the page is there: "first", or "next" for another page
  const AWAITED = "data-awaited"; // on the first element that is not drawn yet
  const PLACE = '[data-testid="stElementContainer"]';
  const COMPONENT = '[data-testid^="stBidiComponent"]';
  const MISSING = '[data-testid="stSkeleton"], [data-testid="stVegaLiteChart"]:not(:has(svg, canvas))';
  const TOOLBAR = ".st-key-toolbar"; // a page fills it until its end: it is one element, which is drawn at once

  const root = document.documentElement;
  const drawn = new WeakSet(); // places of components whose scripts have drawn
  const noteDrawn = (event) => {
    const place = event.target.closest(PLACE);
    if (place) drawn.add(place);
  };

  const isRunning = () => !document.querySelector("[data-test-script-state=notRunning]");

  const heights = new WeakMap(); // place -> its height, and in how many frames it was the same
  /** @param {Element} place */
  const noteHeight = (place) => {
    const before = heights.get(place);
    const height = place.clientHeight;
    heights.set(place, { height, kept: before?.height === height ? before.kept + 1 : 0 });
  };

  /** @param {Element} place */
  const changes = (place) => heights.get(place)?.kept < CALM_FRAMES;

  /** @param {Element} place */
  const isMissing = (place) =>
    changes(place) ||
    !place.firstElementChild ||
    place.querySelector(MISSING) !== null ||
    (!drawn.has(place) && place.querySelector(COMPONENT) !== null);

  /** @param {Element} toolbar */
  const grows = (toolbar) => {
    const tools = toolbar.querySelector(".st-key-tools");
    if (tools && getComputedStyle(tools).position === "fixed") return false; // its height moves nothing below it
    return isRunning() || changes(toolbar) || [...toolbar.querySelectorAll(PLACE)].some(isMissing);
  };

  /** @param {Element | undefined} place the first element that is not drawn yet */
  const mark = (place) => {
    if (place?.hasAttribute(AWAITED)) return;
    document.querySelectorAll(`[${AWAITED}]`).forEach((marked) => marked.removeAttribute(AWAITED));
    place?.setAttribute(AWAITED, "");
  };

  let begun = 0; // when the first element was there, then when the last one was drawn
  let awaited; // the element that is waited for
  let calm = 0; // frames in which nothing was missing
  let hides = true; // false if the page asks for its rest: what was shown stays
  const look = (now) => {
    const places = document.querySelectorAll(`main :is(${PLACE}:not(${TOOLBAR} *), ${TOOLBAR})`);
    begun ||= places.length && now;
    places.forEach(noteHeight);
    const first = [...places].find((place) => (place.matches(TOOLBAR) ? grows(place) : isMissing(place)));
    if (first !== awaited) [awaited, begun] = [first, begun && now];
    calm = first || isRunning() ? 0 : calm + 1;
    const awaitsRest = globalThis[Symbol.for("attention")]?.look?.awaits;
    if (awaitsRest && !first) hides = false;
    if ((calm >= CALM_FRAMES && !awaitsRest) || (begun && now > begun + LONGEST_MS)) {
      mark(undefined);
      root.removeAttribute(ARRIVING);
      window.removeEventListener("component-drawn", noteDrawn);
      return;
    }
    mark(hides ? first : undefined);
    requestAnimationFrame(look);
  };

  /** @param {"first" | "next"} which */
  const arrive = (which) => {
    const isUnderWay = root.hasAttribute(ARRIVING);
    [begun, calm, hides] = [0, 0, true];
    if (isUnderWay) return;
    root.setAttribute(ARRIVING, which);
    window.addEventListener("component-drawn", noteDrawn);
    requestAnimationFrame(look);
  };
  arrive("first");

  let path = location.pathname;
  /** @type {any} */ (globalThis).navigation?.addEventListener("currententrychange", () => {
    if (location.pathname === path) return; // another query of the same page
    path = location.pathname;
    arrive("next");
  });
}
