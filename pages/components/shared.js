// Holds the state and the events that the components of a page share.
// Each script has its own copy of every module, so they share a global object and events of the window instead.

/**
 * The argument with which Streamlit calls a component.
 * @template Data
 * @typedef {object} Component
 * @property {{ querySelector(selector: string): any }} parentElement
 * @property {Data} data
 * @property {(event: string, value: unknown) => void} setTriggerValue sends a message to the server
 */

/**
 * @typedef {object} Shared
 * @property {{ of: string, position: number } | null} [heldSlider] the slider that the visitor drags, and its position
 * @property {Record<string, any>} [look] the selection on the server: the last data of flow/look.js
 * @property {(event: string, value: unknown) => void} [tellServer] sends an event of flow/look.js
 * @property {Element} [paintedFlow] the picture of the flow that was painted last
 * @property {number} [openedDrawer] the number of the last accordion ("drawer") that was scrolled into view
 * @property {number} [soughtControl] the number of the last control that was scrolled into view
 * @property {{ written?: string, told?: string, forget?: () => void }} [keptLecture] what this tab has stored, and sent
 * @property {{ sent: string, sentAt: number, followers: number, answers: number[], told: string, scene?: number,
 *   end?: () => void }} [room] what this tab has sent to the room of a lecture, and when; how many follow, and their
 *   answers; the secret that it has told the server; the number of the scene that it shows
 * @property {{ first: number, moves: string[], sentAt: number }} [pressed] the keys for undo and redo that the server
 *   has not done yet, and how many were pressed before them
 * @property {Element} [pressedPlace] the element that sends them
 * @property {() => void} [forgetPress] ends the listening to these keys
 * @property {() => void} [forgetPaste] ends the listening to texts pasted into the sentence
 * @property {{ end: () => void }} [connection] end() stops watching the connection to the server
 */

/** @type {Shared} */
export const shared = (globalThis[Symbol.for("attention")] ??= {});

/**
 * Calls a function for each event of a name that tellOthers sends. Returns a function that ends the listening.
 * @param {string} name
 * @param {(detail: any, event: Event) => void} listen
 * @param {{ once?: boolean }} [options] once: only the first time
 */
export function hear(name, listen, options) {
  const heard = (event) => listen(event.detail, event);
  window.addEventListener(name, heard, options);
  return () => window.removeEventListener(name, heard);
}

/**
 * Sends an event to the other components. Returns false if one of them handled it with preventDefault.
 * @param {string} name
 * @param {unknown} [detail]
 */
export const tellOthers = (name, detail) => window.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }));
