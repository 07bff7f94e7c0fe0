// Follows a lecturer: goes where the server's events say, until the reader leaves to explore; one press leads back.
{
  const RETRY_MS = 3000; // ms after which a connection that the server has closed is opened again
  const SILENCE_MS = 40_000; // ms without any event after which a connection counts as lost; the server sends one in 15 s
  const [state, changed, leave] = ["follow", "changed", "leave"].map((name) => document.getElementById(name));
  const texts = JSON.parse(state.dataset.texts);
  let place = null; // where the lecturer stands; null before the first message
  let condition = "waiting"; // "waiting" for the first place, "following", "lost" or "ended"
  let isLeft = false; // whether the reader has left the lecturer
  let heardAt = 0;
  /** @type {EventSource} */
  let source;

  function draw() {
    const hasEnded = condition === "ended";
    document.documentElement.classList.toggle("led", !isLeft && !hasEnded);
    state.textContent = texts[condition === "following" && isLeft ? "exploring" : condition];
    leave.textContent = isLeft ? texts.back : texts.leave;
    leave.hidden = hasEnded;
    changed.hidden = !place?.link || hasEnded;
    changed.textContent = texts.changed;
    if (place?.link) changed.href = "./?" + place.link; // a query of the app's own address, whatever the lecturer sends
  }

  function follow() {
    if (place && !isLeft) dispatchEvent(new CustomEvent("lecture-go", { detail: place }));
    draw();
  }

  function connect() {
    source?.close();
    heardAt = performance.now();
    source = new EventSource("room/events" + location.search);
    source.onmessage = ({ data }) => {
      const told = JSON.parse(data);
      heardAt = performance.now();
      if (told.page !== texts.page) return location.reload(); // the lecturer shows another lecture
      place = told.place;
      condition = place ? "following" : "waiting";
      follow();
    };
    source.addEventListener("here", () => (heardAt = performance.now()));
    source.addEventListener("end", () => {
      source.close();
      clearInterval(watch);
      condition = "ended";
      draw();
    });
    source.onerror = () => {
      condition = "lost"; // the browser connects again by itself, unless the server has refused it
      draw();
    };
  }

  leave.onclick = () => {
    isLeft = !isLeft;
    follow();
  };
  addEventListener("hashchange", () => {
    isLeft = true;
    draw();
  });
  const watch = setInterval(() => {
    const isSilent = performance.now() - heardAt > SILENCE_MS;
    if (source.readyState === EventSource.CLOSED || isSilent) connect();
  }, RETRY_MS);
  connect();
  draw();
}
