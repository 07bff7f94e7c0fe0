// Shows the presenter view: title, note and question of the current scene, the next scene, and the time.
// The scenes are presented in another window of the same browser. The elapsed time is beside the planned minutes.
// Until that window sends a message, the view shows the scene of its own session, and its keys change that scene.
import { stateOf } from "./dom.js";
import { filled } from "./printed.js";
import { asked, REMOTE } from "./remote.js";

// Font sizes of the speaker's note, largest first; the largest in which the whole note fits is used.
const NOTE_SIZES_PX = [32, 29, 26, 24, 22, 20];
const PHONE_PX = 560; // px: in a narrower window, notes have small letters and scroll with the page
const TEXTS = ["place", "title", "scene_step", "question", "note", "next", "departed"];

/**
 * @typedef {object} Prompter
 * @property {any} at the texts of a scene, and its planned minutes
 * @property {string | null} pair the name of the channel to the window of the presentation
 * @property {string} language
 * @property {Record<string, string>} words
 */

/** @param {import("./shared.js").Component<Prompter>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".prompter");
  // view.heard: whether the presentation has sent a message
  const view = stateOf(root, () => ({ clock: new NotesClock() }));
  const { clock } = view;
  view.forget?.(); // cleans up here, because Streamlit does not call the cleanup function when it sends new data
  const part = (name) => root.querySelector("." + name);
  document.documentElement.lang = data.language;
  const show = (at) => {
    TEXTS.forEach((name) => (part(name).textContent = typeof at[name] === "string" ? at[name] : ""));
    part("status").textContent = data.words[view.heard ? "heard" : "alone"];
    view.planned = Array.isArray(at.planned) ? at.planned : null;
    clock.reach(view.planned);
    fit();
    tick();
  };
  const fit = () => {
    const note = part("note");
    for (const size of NOTE_SIZES_PX.slice(innerWidth < PHONE_PX ? -2 : 0)) {
      note.style.fontSize = size + "px";
      if (note.scrollHeight <= note.clientHeight + 1) break;
    }
    note.scrollTop = 0;
  };
  const tick = () => {
    const { planned } = view;
    const lag = planned && clock.lag(planned);
    part("clock").textContent = spelled(clock.seconds());
    part("clock").classList.toggle("rests", clock.rests);
    part("pause").textContent = data.words[clock.rests ? "resume" : "pause"];
    part("plan").textContent = planned ? filled(data.words.planned, clock.fromBegin(planned)) : "";
    const said = lag < 0 ? "ahead" : lag > 0 ? "behind" : "on_time";
    part("lag").textContent = planned ? filled(data.words[said], { time: spelled(Math.abs(lag)) }) : "";
    part("lag").classList.toggle("behind", lag > 0);
  };
  if (!view.heard) show(data.at);
  ["coming", "again"].forEach((name) => (part(name).textContent = data.words[name]));

  const channel = data.pair ? new BroadcastChannel("attention-lecture-" + data.pair) : null;
  if (channel) {
    channel.onmessage = ({ data: told }) => {
      if (typeof told?.at !== "object" || told.at === null) return;
      view.heard = true;
      clock.follow(told);
      show(told.at);
    };
    channel.postMessage({ hello: true });
  }
  const go = (way) => (view.heard ? channel?.postMessage({ way }) : way !== "black" && setTriggerValue("moved", way));
  root.querySelectorAll("button[data-way]").forEach((button) => {
    const way = button.dataset.way;
    button.textContent = data.words[way];
    button.onclick = (event) => {
      if (event.detail) button.blur();
      go(way);
    };
  });

  part("departed").onclick = () => go("script");
  part("again").onclick = () => {
    clock.begin(Date.now(), view.planned);
    tick();
  };
  part("pause").onclick = () => {
    clock.toggle();
    tick();
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
  view.forget = () => {
    window.removeEventListener("keydown", pressed);
    window.removeEventListener("resize", fit);
    clearInterval(ticking);
    channel?.close();
  };
  return () => view.forget();
}

// Measures the time of a lecture since its first scene, or since the scene at which the presenter reset the clock.
class NotesClock {
  constructor() {
    this.begin(Date.now(), null);
  }

  // Sets the clock's start to the time `since`.
  // planned: [begin, end], the planned minutes of the first scene, or null for none.
  begin(since, planned) {
    Object.assign(this, { since, passed: 0, first: planned?.[0] ?? 0 });
  }

  // Resets the clock if the presenting window has started or restarted the presentation.
  // began: time of the start in ms. first: the planned minute at which the first scene begins.
  follow({ began, first }) {
    if (!Number.isFinite(began) || began === this.followed) return;
    this.followed = began;
    this.begin(Math.min(began, Date.now()), [Number.isFinite(first) ? first : 0]);
  }

  // Counts planned minutes from an earlier scene if the presenter goes back before the clock's first scene.
  reach(planned) {
    if (planned) this.first = Math.min(this.first, planned[0]);
  }

  get rests() {
    return this.since === null;
  }

  toggle() {
    this.passed = this.milliseconds();
    this.since = this.rests ? Date.now() : null;
  }

  milliseconds() {
    return this.passed + (this.rests ? 0 : Date.now() - this.since);
  }

  seconds() {
    return Math.floor(this.milliseconds() / 1000);
  }

  // Returns the planned time of a scene, { begins, ends }, in minutes since the start of this clock.
  fromBegin([begins, ends]) {
    return { begins: begins - this.first, ends: ends - this.first };
  }

  // Returns how many seconds the talk is late: below 0 if it is early, 0 within the scene's planned minutes.
  lag(planned) {
    const { begins, ends } = this.fromBegin(planned);
    const seconds = this.seconds();
    return Math.min(0, seconds - 60 * begins) + Math.max(0, seconds - 60 * ends);
  }
}

const spelled = (seconds) => Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
