// Follows a lecturer: goes where the server's events say, until the reader leaves to explore; one press leads back.
{
  const RETRY_MS = 3000; // ms after which a connection that the server has closed is opened again
  const SILENCE_MS = 40_000; // ms without any event after which a connection counts as lost; the server sends one in 15 s
  const [state, changed, leave] = ["follow", "changed", "leave"].map((name) => document.getElementById(name));
  const texts = JSON.parse(state.dataset.texts);
  let place = null; // where the lecturer stands; null before the first message
  let condition = "waiting"; // "waiting" for the first place, "following", "lost" or "ended"
  let isLeft = false; // whether the reader has left the lecturer
  const chosen = {}; // number of a slide -> the reader's own answer to its poll
  const browser = nameBrowser();
  let answers = []; // how many answers each choice of the slide's poll has; empty while its question is open
  let heardAt = 0;
  /** @type {EventSource} */
  let source;

  // Links to the pages on which the class works; they open in this room, so that the lecturer's counts include them.
  function linkExercises() {
    const links = Object.entries(texts.exercises).map(([page, title]) => {
      const link = document.createElement("a");
      Object.assign(link, { href: page + location.search, textContent: title, target: "_blank", rel: "noopener" });
      return link;
    });
    document.getElementById("exercises").replaceChildren(...links);
  }

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

  // Returns a random name, which stays while this tab is open: a browser's second answer replaces its first.
  function nameBrowser() {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    const made = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    try {
      const kept = sessionStorage.getItem("attention-browser") ?? made;
      sessionStorage.setItem("attention-browser", kept);
      return kept;
    } catch {
      return made; // the storage is forbidden
    }
  }

  // Draws the poll of the slide at which the lecturer stands: its choices with its question, then the answers.
  function drawPoll() {
    document.querySelector(".polled")?.remove();
    const poll = place && texts.polls[place.scene];
    const isOpen = place?.step === "question";
    if (!poll || !(isOpen || answers.length)) return;
    const { scene } = place;
    const room = document.createElement("div");
    room.className = "polled";
    document.getElementById(String(scene)).querySelector(".question").after(room);
    const state = { texts, chosen: chosen[scene], counts: isOpen ? null : answers, choose: (i) => answer(scene, i) };
    drawPart(room, { name: "poll", data: { poll, state } });
  }

  // Sends an answer; it is marked as chosen once the server has taken it.
  async function answer(scene, choice) {
    const body = JSON.stringify({ scene, choice, browser });
    try {
      const { ok } = await fetch("room/answer" + location.search, { method: "POST", body });
      if (ok) chosen[scene] = choice;
    } catch {
      condition = "lost"; // the next event says that the connection stands again
    }
    follow();
  }

  function follow() {
    drawPoll();
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
      ({ place, answers } = told);
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
  linkExercises();
  draw();
}
