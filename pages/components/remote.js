// The keys of a presenter's remote, and what they ask for.
import { belongs } from "./belongs.js";

export const REMOTE = {
  ArrowRight: "next",
  PageDown: "next",
  " ": "next",
  ArrowLeft: "previous",
  PageUp: "previous",
  Home: "first",
  End: "last",
  b: "black",
  ".": "black",
};

// With Shift an arrow goes a whole scene on or back.
const SCENE_KEYS = { ArrowRight: "next_scene", ArrowLeft: "previous_scene" };

// What a key asks for, of such a table; nothing where it belongs to the browser, to a field, or to the button with the
// focus, which the space bar presses.
export function asked(event, keys) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || belongs(event)) return;
  if (event.shiftKey) return SCENE_KEYS[event.key];
  if (event.key === " " && event.composedPath()[0].matches?.("button, a, summary")) return;
  return keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
}
