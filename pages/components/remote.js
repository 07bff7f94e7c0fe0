// Maps the keys of a presenter's remote control to actions of the presentation.
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

// Maps arrow keys, pressed together with Shift, to the next or previous scene.
const SCENE_KEYS = { ArrowRight: "next_scene", ArrowLeft: "previous_scene" };

/**
 * The action of a key in a table such as REMOTE; undefined for a key that the browser, a field, or the button with the
 * focus (for the space bar) handles.
 * @type {(event: KeyboardEvent, keys: Record<string, string>) => string | undefined}
 */
export function asked(event, keys) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || belongs(event)) return;
  if (event.shiftKey) return SCENE_KEYS[event.key];
  const [target] = event.composedPath();
  if (event.key === " " && target instanceof Element && target.matches("button, a, summary")) return;
  return keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
}
