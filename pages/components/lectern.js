// Handles the keys and buttons of a presentation, full screen and black screen.
// On a touch screen, a swipe or a touch beside the controls of a slide goes forward or back.
// The presenter view is a second window of the same browser.
// The two windows exchange messages over a BroadcastChannel, which no server or other browser can read.
import { belongs } from "./belongs.js";
import { stateOf } from "./dom.js";
import { asked, REMOTE } from "./remote.js";
import { tellOthers } from "./shared.js";
import { isTouch } from "./touch.js";

const KEYS = {
  ...REMOTE, F5: "start", Escape: "leave", f: "full", n: "notes", e: "edit", s: "script", a: "reveal", r: "room",
};
const AT_THE_DESK = ["start", "notes"]; // actions in the overview, before the presentation begins
// The actions that the presenter view may request.
const HEARD = ["next", "previous", "next_scene", "previous_scene", "first", "last", "black", "script"];

const SWIPE_PX = 50; // px: least length of a swipe
const STILL_PX = 10; // px: a finger that moves less only touches
const HELD_MS = 500; // ms: a longer touch selects text
const HANDLED = "button, a, input, textarea, select, label, summary, canvas, svg, [role=button], [role=slider]";
const DRAGGED = "input, textarea, canvas, [role=slider]";

const STOPS = { next: 1, previous: -1 }; // action -> by how many keyframes an animation moves, before the scene changes

let onScreen = null; // the element drawn last; the removal of an older one must not end the new one
/** @type {{ began: number, first: number } | null} */
let lectureBegan = null; // { began: time in ms, first: planned minute of the first scene }; null before the start
let isLeftByUs = false; // whether the app itself has just left full screen; the presentation then continues

/**
 * @typedef {object} Lectern
 * @property {boolean} presenting whether the presentation has begun
 * @property {string} language
 * @property {string} place the place of the scene in the lecture, as a text
 * @property {string} address the query of the address of the scene
 * @property {any} notes the texts of the presenter view
 * @property {Record<string, string>} words the names of the buttons
 * @property {string[]} on the buttons whose state is on
 */

/** @param {import("./shared.js").Component<Lectern>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".lectern");
  const black = parentElement.querySelector(".lectern-black");
  const presenting = data.presenting;
  onScreen = root;
  const view = stateOf(root);
  view.forget?.(); // cleans up here, because Streamlit does not call the cleanup function when it sends new data
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
      // opening a window ends full screen, but the presentation continues, because the visitor did not end it
      full(false);
      window.open("?" + data.address + "&view=notes&pair=" + pair, "lecture-" + pair, "width=960,height=720");
    },
    start: () => {
      full(true);
      lectureBegan = null; // the next shown scene counts as the lecture's first
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
    // key names are left out on a phone, which has no keys
    const word = isTouch() ? data.words[way].replace(/ ?[(（].*/, "") : data.words[way];
    button.title = button.ariaLabel = word;
    button.querySelector("span").textContent = word;
    button.classList.toggle("on", data.on.includes(way));
    button.onclick = (event) => {
      if (event.detail) button.blur(); // a button with the focus would be pressed again by the space bar
      act(way);
    };
  });
  black.onclick = () => act("black");

  const pressed = (event) => {
    const [target] = event.composedPath();
    const leaves = event.key === "Escape" && presenting && target !== document.body && belongs(event);
    if (leaves) return target.blur?.(); // Escape first leaves the focused field, then the presentation
    // In the overview the first press starts the lecture, unless a card or a control has the focus.
    const isForward = !presenting && target === document.body && event.key === "ArrowRight";
    const action = asked(event, KEYS);
    const way = isForward && action ? "start" : action;
    if (!way || (!presenting && !AT_THE_DESK.includes(way))) return;
    event.preventDefault();
    act(way);
  };
  /** @type {{ x: number, y: number, time: number } | null} */
  let touched = null; // where a finger touched the slide; null if something else handles the touch
  const touchBegan = (event) => {
    const [finger, another] = event.touches;
    const isFree = presenting && !another && !isWithin(event, DRAGGED) && !event.composedPath().includes(root);
    touched = isFree ? { x: finger.clientX, y: finger.clientY, time: event.timeStamp } : null;
  };
  const touchEnded = (event) => {
    if (!touched) return;
    const [finger] = event.changedTouches;
    const [across, down] = [finger.clientX - touched.x, finger.clientY - touched.y];
    const isSwipe = Math.abs(across) > SWIPE_PX && Math.abs(across) > 2 * Math.abs(down);
    const isShort = Math.hypot(across, down) < STILL_PX && event.timeStamp - touched.time < HELD_MS;
    if (isSwipe) act(across < 0 ? "next" : "previous");
    else if (isShort && !isWithin(event, HANDLED)) act(finger.clientX > innerWidth / 2 ? "next" : "previous");
    touched = null;
  };
  // In full screen, a page never receives Escape: the browser handles it and leaves full screen.
  // If another window has the focus, the visitor has not pressed Escape, and the presentation continues.
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
  window.addEventListener("touchstart", touchBegan, { passive: true });
  window.addEventListener("touchend", touchEnded, { passive: true });
  document.addEventListener("fullscreenchange", changed);
  tell();
  view.forget = () => {
    window.removeEventListener("keydown", pressed);
    window.removeEventListener("touchstart", touchBegan);
    window.removeEventListener("touchend", touchEnded);
    document.removeEventListener("fullscreenchange", changed);
    channel.close();
  };
  return () => {
    view.forget();
    if (onScreen === root) document.documentElement.classList.remove("presenting");
  };
}

// Returns whether an event is within an element that fits a selector.
function isWithin(event, selector) {
  return event.composedPath().some((each) => each instanceof Element && each.matches(selector));
}

// Requests that an animation on the screen moves one keyframe forward (1) or back (-1) instead of the scene.
// Returns whether an animation on the screen has moved.
function isTakenByJourney(way) {
  return !tellOthers("flow-step", way);
}

// Enters or leaves full screen. If the browser refuses, the presentation continues in the window.
function full(wanted) {
  if (wanted === Boolean(document.fullscreenElement)) return;
  isLeftByUs = !wanted;
  const done = wanted ? document.documentElement.requestFullscreen?.() : document.exitFullscreen();
  done?.catch(() => (isLeftByUs = false));
}

// Returns the name of the channel between this tab and its presenter view.
// The name of the channel is random and stays the same while the tab is open.
function paired() {
  const key = "attention-lecture";
  const found = sessionStorage.getItem(key);
  if (found) return found;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, "0"));
  sessionStorage.setItem(key, made.join(""));
  return made.join("");
}
