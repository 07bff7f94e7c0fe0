
// Moves through the slides by keys and buttons: question, animated parts, their map, then formulas and sentences.
{
  const WAYS = { ArrowRight: 1, PageDown: 1, " ": 1, Enter: 1, ArrowLeft: -1, PageUp: -1 };
  const TEXTS = ["flow/slider", "live/told"]; // names of animated parts that have no picture
  const GAP = 11; // pixels between two animated parts
  const LEAST_ZOOM = 0.6;
  const isPhone = matchMedia("(max-width: 40rem)");
  const SCENE_WAYS = { ArrowRight: 1, ArrowLeft: -1 }; // Shift and this key: next or previous slide
  // The steps of a scene in the app that a page shows elsewhere than in its picture.
  const LED_BEATS = { question: "question", cell: "figures", symbol: "figures", shapes: "figures", code: "figures" };
  const GLIDES = 0.75; // share of its duration in which an animation follows the lecturer's to the next keyframe
  const slides = [...document.querySelectorAll(".slide")];
  const { answer, next: onward } = document.getElementById("drawing").dataset;
  const [nav, place, notes, next] = ["nav", "#place", "#notes", "#next"].map((name) => document.querySelector(name));
  let at = 0; // index of the shown slide
  let beat = 0; // index of the step (beat) within the slide
  let isMap = false; // whether the map is shown instead of the animated parts
  let parts = []; // the animated parts of the shown slide: their elements, heights and roles
  let page = 0; // index of the shown page of parts, if they do not fit on the screen together
  const sizes = new ResizeObserver((changes) => changes.map(keepHeight).some(Boolean) && showPage());

  const beatsOf = (slide) => [...slide.querySelectorAll("[data-beat]")];
  const beatNow = () => beatsOf(slides[at])[beat];
  const drawnIn = (moving) => [...moving.querySelectorAll("div")].map(elementIn);
  const movingOf = (shown) => shown?.querySelector(".moving") ?? document.createElement("div");
  const flowOf = (shown) => drawnIn(movingOf(shown)).find(({ flow }) => flow)?.flow;

  // Shows a slide at one of its steps. isFromBehind: whether the lecturer steps back; animations are then at their end.
  function show(slide, part, isFromBehind = false) {
    movingOf(beatNow()).replaceChildren();
    [at, beat, isMap, page] = [slide, part, false, isFromBehind ? Infinity : 0];
    slides.forEach((each, i) => each.classList.toggle("on", i === at));
    beatsOf(slides[at]).forEach((each, i) => each.classList.toggle("on", i === beat));
    move(movingOf(beatNow()), isFromBehind);
    repeatPicture(beatNow());
    place.textContent = at ? `${at} / ${slides.length - 1}` : "";
    next.textContent = beatNow()?.dataset.beat === "question" ? answer : onward;
    next.disabled = at === slides.length - 1 && beat >= beatsOf(slides[at]).length - 1;
    history.replaceState(null, "", `#${at || ""}`);
    scrollTo(0, 0);
  }

  // Draws the animated parts of a slide; if isFromBehind, at their last keyframe.
  function move(moving, isFromBehind) {
    sizes.disconnect();
    parts = JSON.parse(moving.dataset.parts ?? "[]").map((part) => {
      const isStill = part.name === "picture";
      const element = isStill ? moving.appendChild(stillOf(part.data.at)) : drawPart(moving, part);
      return { element, height: 0, isSlider: part.name === "flow/slider", isPicture: !TEXTS.includes(part.name) };
    });
    for (const { element } of parts) sizes.observe(element);
    const { journey, look } = flowOf(beatNow()) ?? {};
    if (isFromBehind && journey && look.view !== "map") journey.scrub(journey.stops.length);
  }

  const stillOf = (number) =>
    Object.assign(slides[at].querySelectorAll("img.still")[number].cloneNode(), { className: "" });

  // ---- pages of what moves, where it is higher than the screen ----
  // Records the height of a part that is shown and not made smaller. Returns whether the height has changed.
  function keepHeight({ target }) {
    const part = parts.find(({ element }) => element === target);
    const { height } = part ?? {};
    if (part && target.offsetHeight && !target.style.zoom) part.height = target.offsetHeight;
    return part?.height !== height;
  }

  const heightOf = (page) => page.reduce((sum, { height }) => sum + height, 0) + GAP * (page.length - 1);

  // Returns the parts as pages that fit on the screen, each with at least one picture. A phone scrolls instead.
  function listPages() {
    const room = findRoom();
    const slider = parts.filter(({ isSlider }) => isSlider);
    const pages = [[]];
    for (const part of parts) {
      const [seen] = pages.slice(-1);
      const isFull = heightOf([...seen, part]) > room && seen.some(({ isPicture }) => isPicture);
      if (isFull) pages.push([...slider, part]);
      else seen.push(part);
    }
    return pages;
  }

  // Returns the height in pixels that the style sheet leaves for the animated parts; less if notes are shown.
  function findRoom() {
    if (!parts.length || isPhone.matches) return Infinity;
    const hasNotes = document.documentElement.classList.contains("notes");
    const bottom = hasNotes ? 0.7 * innerHeight : beatNow().getBoundingClientRect().bottom;
    return bottom - movingOf(beatNow()).getBoundingClientRect().top;
  }

  function showPage() {
    const pages = listPages();
    const seen = pages[Math.min(page, pages.length - 1)];
    const pictures = seen.filter(({ isPicture }) => isPicture);
    for (const part of parts) part.element.hidden = !seen.includes(part);
    for (const { element } of pictures) element.classList.toggle("alone", pictures.length === 1);
    if (pictures.length === 1) shrink(pictures[0], findRoom() - heightOf(seen));
  }

  // Makes a picture smaller if its page is higher than the screen. left: the free height in px, below 0 if none.
  function shrink({ element, height }, left) {
    element.style.zoom = left < 0 ? Math.max(LEAST_ZOOM, 1 + left / height) : "";
  }

  // Shows the next page (way 1) or the previous one (-1). Returns false if there is none.
  function paged(way) {
    const pages = listPages();
    const now = Math.min(page, pages.length - 1);
    if (!pages[now + way]) return false;
    page = now + way;
    showPage();
    return true;
  }

  // Shows the animated parts at a small size beside sentences with numbers that have no picture of their own.
  function repeatPicture(shown) {
    const still = slides[at].querySelector("img.still");
    if (shown?.dataset.beat === "figures" && still && !shown.querySelector("img"))
      shown.prepend(Object.assign(still.cloneNode(), { className: "again" }));
  }

  // Moves one step forward (1) or back (-1): through the animated parts, then the slide's steps, then to another slide.
  function step(way) {
    const isTaken = flowOf(beatNow()) && !dispatchEvent(new CustomEvent("flow-step", { detail: way, cancelable: true }));
    if (isTaken || turned(way) || paged(way)) return;
    const beats = beatsOf(slides[at]).length;
    if (beat + way >= 0 && beat + way < beats) show(at, beat + way, way < 0);
    else if (slides[at + way]) show(at + way, way > 0 ? 0 : Math.max(0, beatsOf(slides[at + way]).length - 1), way < 0);
  }

  // Shows another slide from its first step.
  function turn(way) {
    if (slides[at + way]) show(at + way, 0);
  }

  // Switches between the animated parts and their attention map. Returns false if the slide has no such map.
  function turned(way) {
    const flow = flowOf(beatNow());
    if (!flow || !("map" in beatNow().dataset) || isMap === way > 0) return false;
    isMap = way > 0;
    flow.lookAt({ view: isMap ? "map" : "flow", step: flow.share });
    return true;
  }

  // ---- following a lecturer ----
  const isLed = () => document.documentElement.classList.contains("led");

  // Goes where a lecturer stands. step: as the app names it. look: what the lecturer's animation shows; null for none.
  function goTo({ scene, step, look }) {
    if (!slides[scene]) return;
    const beats = beatsOf(slides[scene]).map((each) => each.dataset.beat);
    const wanted = [LED_BEATS[step], "picture", "figures"].map((name) => beats.indexOf(name)).find((i) => i >= 0) ?? 0;
    if (at !== scene || beat !== wanted) show(scene, wanted);
    const flow = flowOf(beatNow());
    if (flow && look) lookAs(flow, look);
  }

  // Shows in an animation the query, the head, the keyframe and the cell that the lecturer looks at.
  function lookAs(flow, { head, query, view, step, stop, cell }) {
    const wanted = flow.exchange.withinReach({ batch: flow.look.batch, head, query, view, step });
    if (Object.keys(wanted).some((name) => wanted[name] !== flow.look[name])) flow.lookAt(wanted);
    isMap = wanted.view === "map";
    const { journey } = flow;
    const now = journey.glide?.target ?? journey.progress;
    if (!isMap && stop !== now) Math.abs(stop - now) <= 1 ? journey.glideTo(stop, GLIDES) : journey.scrub(stop);
    flow.hands.cell = isMap ? cell : null;
    flow.ask();
  }

  function toggleNotes() {
    const isOn = document.documentElement.classList.toggle("notes");
    notes.setAttribute("aria-pressed", isOn);
    showPage();
  }

  addEventListener("keydown", (event) => {
    const [target] = event.composedPath();
    const isOn = (kinds) => target instanceof Element && target.closest(kinds);
    if (isLed() || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (isOn("input") || (isOn("a, button, [role=button]") && (event.key === " " || event.key === "Enter"))) return;
    const last = slides.length - 1;
    const acts = { Home: () => show(0, 0), End: () => show(last, 0), n: toggleNotes, N: toggleNotes };
    const act = event.shiftKey && event.key in SCENE_WAYS ? () => turn(SCENE_WAYS[event.key])
      : event.key in WAYS ? () => step(WAYS[event.key]) : acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  next.onclick = (event) => {
    if (event.detail) next.blur(); // after a click, the space bar means the next step, not another click
    step(1);
  };
  document.getElementById("previous").onclick = () => step(-1);
  notes.onclick = toggleNotes;
  const goToAddress = () => {
    const wanted = Number(location.hash.slice(1));
    show(slides[wanted] ? wanted : 0, 0);
  };
  addEventListener("hashchange", goToAddress);
  addEventListener("lecture-go", ({ detail }) => goTo(detail));
  addEventListener("resize", showPage);

  nav.hidden = false;
  document.documentElement.classList.add("runs");
  goToAddress();
}
