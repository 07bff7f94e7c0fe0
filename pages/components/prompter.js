// The presenter view: what the audience sees in another window of this browser, its note, what comes next, and the time.
// As long as nothing is heard from there it shows what its own session is at, and its keys move that one.
const NOTE_SIZES_PX = [32, 29, 26, 24, 22, 20]; // of the letters of a note: a long one has smaller ones, to be seen whole
const PHONE_PX = 560; // of a window: in a narrower one a note is scrolled with the page, in small letters
const TEXTS = ["place", "title", "scene_step", "question", "note", "next", "departed"];

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".prompter");
  root.forget?.(); // drawn anew with other data, a part is not told that what it was is over
  const part = (name) => root.querySelector("." + name);
  document.documentElement.lang = data.language;
  const show = (at) => {
    TEXTS.forEach((name) => (part(name).textContent = typeof at[name] === "string" ? at[name] : ""));
    part("status").textContent = data.words[root.heard ? "heard" : "alone"];
    fit();
  };
  const fit = () => {
    const note = part("note");
    for (const size of NOTE_SIZES_PX.slice(innerWidth < PHONE_PX ? -2 : 0)) {
      note.style.fontSize = size + "px";
      if (note.scrollHeight <= note.clientHeight + 1) break;
    }
    note.scrollTop = 0;
  };
  if (!root.heard) show(data.at);
  ["coming", "again"].forEach((name) => (part(name).textContent = data.words[name]));

  const channel = data.pair ? new BroadcastChannel("attention-lecture-" + data.pair) : null;
  if (channel) {
    channel.onmessage = ({ data: told }) => {
      if (typeof told?.at !== "object" || told.at === null) return;
      root.heard = true;
      show(told.at);
    };
    channel.postMessage({ hello: true });
  }
  const go = (way) => (root.heard ? channel.postMessage({ way }) : way !== "black" && setTriggerValue("moved", way));
  root.querySelectorAll("button[data-way]").forEach((button) => {
    const way = button.dataset.way;
    button.textContent = data.words[way];
    button.onclick = (event) => {
      if (event.detail) button.blur();
      go(way);
    };
  });

  root.began ??= performance.now();
  part("again").onclick = () => {
    root.began = performance.now();
    tick();
  };
  const tick = () => {
    const seconds = Math.floor((performance.now() - root.began) / 1000);
    part("clock").textContent = Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
  };
  tick();
  const ticking = setInterval(tick, 1000);

  const pressed = (event) => {
    const way = asked(event, REMOTE);
    if (!way) return;
    event.preventDefault();
    go(way);
  };
  window.addEventListener("keydown", pressed);
  window.addEventListener("resize", fit);
  root.forget = () => {
    window.removeEventListener("keydown", pressed);
    window.removeEventListener("resize", fit);
    clearInterval(ticking);
    channel?.close();
  };
  return () => root.forget();
}
