// What the components of one page share. The script of each component is a bundle with its own copy of every module, so
// they meet in one object that the page has once, and in events of the window.

/**
 * What Streamlit calls a component with.
 * @template Data
 * @typedef {object} Component
 * @property {{ querySelector(selector: string): any }} parentElement
 * @property {Data} data
 * @property {(event: string, value: unknown) => void} [setTriggerValue] sends a message to the server
 */

/**
 * @typedef {object} Shared
 * @property {{ of: string, position: number } | null} [heldSlider] the slider that a hand drags, and where it stands
 * @property {Record<string, any>} [look] what the server shows: the last data of flow/look.js
 * @property {(event: string, value: unknown) => void} [tellServer] sends an event of flow/look.js
 * @property {Element} [paintedFlow] the picture of the flow that was painted last
 * @property {number} [openedDrawer] the number of the last drawer that was brought into view
 * @property {number} [soughtControl] the number of the last control that was brought into view
 */

/** @type {Shared} */
export const shared = (globalThis[Symbol.for("attention")] ??= {});

/**
 * Calls a function with what the other components tell under a name. Returns a function that ends this.
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
 * Tells the other components something. Returns false if one of them took it over, by preventDefault.
 * @param {string} name
 * @param {unknown} [detail]
 */
export const tellOthers = (name, detail) => window.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }));
