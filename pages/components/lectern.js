// The keys and buttons of a presentation, full screen and black screen; and what it tells the presenter view, which is
// another window of the same browser: they hear each other through a channel that no server and no other browser is on.
import { belongs } from "./belongs.js";
import { asked, REMOTE } from "./remote.js";

const KEYS = { ...REMOTE, F5: "start", Escape: "leave", f: "full", n: "notes", e: "edit", s: "script", a: "reveal" };
const AT_THE_DESK = ["start", "notes"]; // all that there is to do before it begins
// What the presenter view may ask for.
const HEARD = ["next", "previous", "next_scene", "previous_scene", "first", "last", "black"];

const STOPS = { next: 1, previous: -1 }; // by which a journey on the screen is gone through first

let onScreen = null; // the element that was drawn last: an older one may be removed after it came
let lectureBegan = null; // when the lecture began, and its first scene; null before it begins
let isLeftByUs = false; // whether the full screen was just left by our own key: then the presentation goes on

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".lectern");
  const black = parentElement.querySelector(".lectern-black");
  const presenting = data.presenting;
  onScreen = root;
  root.forget?.(); // drawn anew with other data, a part is not told that what it was is over
  document.documentElement.classList.toggle("presenting", presenting);
  document.documentElement.lang = data.language;
  root.classList.toggle("desk", !presenting);
  root.querySelector(".lectern-place").textContent = presenting ? data.place : "";

  const pair = paired();
  const channel = new BroadcastChannel("attention-lecture-" + pair);
  if (!presenting) lectureBegan = null;
  else lectureBegan ??= { began: Date.now(), first: data.notes.planned?.[0] };
  const tell = () => presenting && channel.postMessage({ at: data.notes, ...lectureBegan });
  const acts = {
    black: () => (black.hidden = !black.hidden),
    full: () => full(!document.fullscreenElement),
    notes: () => {
      full(false); // a browser takes the full screen away for a second window: left by us, the presentation goes on
      window.open("?" + data.address + "&view=notes&pair=" + pair, "lecture-" + pair, "width=960,height=720");
    },
    start: () => {
      full(true);
      lectureBegan = null; // the next scene that is shown is the first
      setTriggerValue("moved", "start");
    },
    leave: () => {
      if (!black.hidden) return (black.hidden = true);
      full(false);
      setTriggerValue("moved", "leave");
    },
  };
  const act = (way) => {
    if (!presenting && !AT_THE_DESK.includes(way)) return;
    if (way !== "black" && way !== "leave") black.hidden = true;
    if (way in STOPS && isTakenByJourney(STOPS[way])) return;
    acts[way] ? acts[way]() : setTriggerValue("moved", way);
  };

  root.querySelectorAll("button").forEach((button) => {
    const way = button.dataset.way;
    button.hidden = presenting ? way === "start" : !AT_THE_DESK.includes(way);
    button.title = button.ariaLabel = data.words[way];
    button.querySelector("span").textContent = data.words[way];
    button.classList.toggle("on", data.on.includes(way));
    button.onclick = (event) => {
      if (event.detail) button.blur(); // pressed by a pointer: the space bar goes on, and does not press it again
      act(way);
    };
  });
  black.onclick = () => act("black");

  const pressed = (event) => {
    const [target] = event.composedPath();
    const leaves = event.key === "Escape" && presenting && target !== document.body && belongs(event);
    if (leaves) return target.blur?.(); // a field first, then the presentation
    const way = asked(event, KEYS);
    if (!way || (!presenting && !AT_THE_DESK.includes(way))) return;
    event.preventDefault();
    act(way);
  };
  // Escape never reaches a page that fills the screen: the browser takes it, and leaves. Where another window has come
  // to the front it was not Escape, and the presentation goes on.
  const changed = () => {
    const isLeft = !document.fullscreenElement && document.hasFocus() && !isLeftByUs;
    if (isLeft && presenting) setTriggerValue("moved", "leave");
    isLeftByUs = false;
  };
  channel.onmessage = ({ data: heard }) => {
    if (heard?.hello) tell();
    if (presenting && HEARD.includes(heard?.way)) act(heard.way);
  };
  window.addEventListener("keydown", pressed);
  document.addEventListener("fullscreenchange", changed);
  tell();
  root.forget = () => {
    window.removeEventListener("keydown", pressed);
    document.removeEventListener("fullscreenchange", changed);
    channel.close();
  };
  return () => {
    root.forget();
    if (onScreen === root) document.documentElement.classList.remove("presenting");
  };
}

// Whether a journey on the screen had one more stop on (1) or back (-1), and went there.
function isTakenByJourney(way) {
  return !window.dispatchEvent(new CustomEvent("flow-step", { detail: way, cancelable: true }));
}

// Fills the screen, or no longer; where a browser does not let it the presentation goes on in its window.
function full(wanted) {
  if (wanted === Boolean(document.fullscreenElement)) return;
  isLeftByUs = !wanted;
  const done = wanted ? document.documentElement.requestFullscreen?.() : document.exitFullscreen();
  done?.catch(() => (isLeftByUs = false));
}

// The name under which this tab and its presenter view hear each other, for as long as the tab is there.
function paired() {
  const key = "attention-lecture";
  const found = sessionStorage.getItem(key);
  if (found) return found;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, "0"));
  sessionStorage.setItem(key, made.join(""));
  return made.join("");
}
