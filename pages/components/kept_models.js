// Stores the names of the models that the visitor opened last in this browser, so that they survive a reload.
// The server decides what is stored; after a reload, the page first sends the server what the browser has stored.
const MODELS = "attention-models";
const MAX_MODELS = 5;
const MAX_CHARS = 300;

/** The stored names; empty if the stored text cannot be read. @type {() => string[]} */
export function readModels() {
  try {
    const kept = JSON.parse(localStorage.getItem(MODELS) ?? "[]");
    const isName = (name) => typeof name === "string" && name.length > 0 && name.length <= MAX_CHARS;
    return Array.isArray(kept) ? kept.filter(isName).slice(0, MAX_MODELS) : [];
  } catch {
    return [];
  }
}

/** Does nothing if the browser refuses to store. @param {string[]} names */
export function keepModels(names) {
  try {
    if (names.length) localStorage.setItem(MODELS, JSON.stringify(names));
    else localStorage.removeItem(MODELS);
  } catch {}
}

/**
 * @typedef {object} KeptModels
 * @property {string[]} names the models that the session has opened, the latest first
 * @property {boolean} begins whether this browser still has to send the server what it had stored
 */

/** @param {import("./shared.js").Component<KeptModels>} component */
export default function ({ data: { names, begins }, setTriggerValue }) {
  const kept = readModels();
  const isNew = kept.some((name) => !names.includes(name));
  if (begins && isNew) setTriggerValue("read", kept);
  else keepModels(names);
}
