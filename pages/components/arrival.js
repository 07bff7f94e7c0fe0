// Shows a page from the top down while the page loads, also when the visitor opens another page of the app.
// Below the first element that is not drawn yet, page.css hides everything, so that nothing visible is pushed away.
// The HTML document of the app contains this script, which runs once per document.
{
  const LONGEST_MS = 5000; // ms since the last drawn element after which the page is shown, even if it is incomplete
  // ms like LONGEST_MS, for the time in which the server sends another page and the former one is still visible
  const LONGEST_RUN_MS = 20000;
  const LONGEST_WAIT_MS = 10000; // ms since the address changed after which the server counts as sending the page
  const CALM_FRAMES = 3; // so many frames without change make a height final, and a page complete
  // attribute of the document while the page arrives: "first", or "next" for another page
  const ARRIVING = "data-arriving";
  const AWAITED = "data-awaited"; // attribute that marks the first element that is not drawn yet
  const PLACE = '[data-testid="stElementContainer"]';
  const COMPONENT = '[data-testid^="stBidiComponent"]';
  const MISSING = '[data-testid="stSkeleton"], [data-testid="stVegaLiteChart"]:not(:has(svg, canvas))';
  const TOOLBAR = ".st-key-toolbar"; // the toolbar counts as one element, which is drawn when its last button is drawn
  // selector of elements that are shown only when all of them are complete
  const LINES = ":is(.st-key-toolbar, .st-key-first_line, .st-key-settings)";

  const root = document.documentElement;
  const drawn = new WeakSet(); // containers of components whose scripts have drawn
  const noteDrawn = (event) => {
    const place = event.target.closest(PLACE);
    if (place) drawn.add(place);
  };

  let rested = 0; // number of successive frames without a run
  let came = 0; // time when the address changed to another page
  let hasRun = true; // false for another page until the server begins to send the page

  const isRunning = () => !document.querySelector("[data-test-script-state=notRunning]");

  // Elements of the former page, which Streamlit removes shortly after the run.
  /** @param {Element} place */
  const hasStale = (place) => place.querySelector('[data-stale="true"]') !== null;

  const heights = new WeakMap(); // container -> its height, and for how many frames it had this height
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
    // a fixed toolbar does not move the content below
    if (tools && getComputedStyle(tools).position === "fixed") return false;
    // false from the click on a link, so that the former page does not move
    const isSent = hasRun && rested >= CALM_FRAMES;
    if (!isSent || hasStale(toolbar) || changes(toolbar)) return true;
    return [...toolbar.querySelectorAll(PLACE)].some(isMissing);
  };

  let where = ""; // positions of the controls of LINES in the last frame
  let still = 0; // number of successive frames in which the controls of LINES did not move
  const noteLines = () => {
    const places = [...document.querySelectorAll(`${LINES} ${PLACE}`)];
    const boxes = places.map((place) => place.getBoundingClientRect());
    const before = where;
    where = boxes.map(({ x, y, width, height }) => [x, y, width, height].join()).join(" ");
    still = where && where === before && !places.some(isMissing) ? still + 1 : 0;
  };

  /** @param {Element | undefined} place the first element that is not drawn yet */
  const mark = (place) => {
    if (place?.hasAttribute(AWAITED)) return;
    document.querySelectorAll(`[${AWAITED}]`).forEach((marked) => marked.removeAttribute(AWAITED));
    place?.setAttribute(AWAITED, "");
  };

  let begun = 0; // time of the first element, later of the last drawn element or of the end of the run
  let awaited; // the first element that is not drawn yet
  let calm = 0; // number of successive frames in which every element was drawn
  let hides = true; // false once the page requests its delayed parts, so that nothing is hidden again
  const look = (now) => {
    rested = isRunning() ? 0 : rested + 1;
    const places = document.querySelectorAll(`main :is(${PLACE}:not(${TOOLBAR} *), ${TOOLBAR})`);
    begun ||= places.length && now;
    places.forEach(noteHeight);
    const first = [...places].find((place) => (place.matches(TOOLBAR) ? grows(place) : isMissing(place)));
    if (first !== awaited || rested === 1) [awaited, begun] = [first, begun && now];
    hasRun ||= isRunning() || now > came + LONGEST_WAIT_MS;
    calm = first || isRunning() || hasStale(root) || !hasRun ? 0 : calm + 1;
    const awaitsRest = globalThis[Symbol.for("attention")]?.look?.awaits;
    if (awaitsRest && !first) hides = false;
    noteLines();
    // From here on, a click on a control of these lines hits the control at which the visitor aimed.
    if (still >= CALM_FRAMES && !awaitsRest && !isRunning()) root.setAttribute(ARRIVING, "next");
    const isUnderWay = root.getAttribute(ARRIVING) === "next" && isRunning();
    const isLate = begun && now > begun + (isUnderWay ? LONGEST_RUN_MS : LONGEST_MS);
    if (isLate) hides = false;
    // whether the lines of a first page wait for a slow or cold server
    const linesWait = root.getAttribute(ARRIVING) === "first" && (awaitsRest || isRunning());
    if ((calm >= CALM_FRAMES && !awaitsRest) || (isLate && !linesWait)) {
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
    [begun, calm, hides, hasRun, came] = [0, 0, true, which === "first", performance.now()];
    if (isUnderWay) return;
    root.setAttribute(ARRIVING, which);
    window.addEventListener("component-drawn", noteDrawn);
    requestAnimationFrame(look);
  };
  arrive("first");

  let path = location.pathname;
  /** @type {any} */ (globalThis).navigation?.addEventListener("currententrychange", () => {
    if (location.pathname === path) return; // the page is the same; only its query parameters have changed
    path = location.pathname;
    arrive("next");
  });
}
