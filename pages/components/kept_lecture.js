// Stores the visitor's own lecture in this browser, so that it survives a reload and is the same in every tab.
// The server decides what is stored; a tab sends the server what the browser stored earlier or in another tab.
import { shared } from "./shared.js";

const LECTURE = "attention-lecture";

/** The stored lecture and its digest; null if none is stored, or if the browser refuses access. */
export function readLecture() {
  try {
    const kept = localStorage.getItem(LECTURE);
    if (kept === null) return null;
    const end = kept.indexOf("\n");
    return { digest: kept.slice(0, Math.max(end, 0)).slice(0, 64), text: kept.slice(end + 1) };
  } catch {
    return null;
  }
}

/** Stores a lecture; returns whether the browser has stored it. @type {(digest: string, text: string) => boolean} */
function keepLecture(digest, text) {
  try {
    if (digest) localStorage.setItem(LECTURE, digest + "\n" + text);
    else localStorage.removeItem(LECTURE);
    return true;
  } catch {
    return false; // the storage is full or forbidden
  }
}

/**
 * @typedef {object} KeptLecture
 * @property {string} digest of the lecture that the server has; "" for none
 * @property {string | null} text the lecture, if the server has not sent it yet
 * @property {boolean} begins whether this browser still has to send the server what it had stored
 * @property {boolean} awaits whether the page waits for the stored lecture
 */

/** @param {import("./shared.js").Component<KeptLecture>} component */
export default function ({ data, setTriggerValue }) {
  const tab = (shared.keptLecture ??= {});
  const changed = (event) => {
    if (event.key !== LECTURE && event.key !== null) return; // null: another tab has cleared the storage
    const kept = readLecture();
    if (kept) setTriggerValue("read", { ...kept, changed: true });
    else setTriggerValue("removed", true);
  };
  tab.forget?.(); // cleans up here, because Streamlit does not call the cleanup function when it sends new data
  window.addEventListener("storage", changed);
  tab.forget = () => window.removeEventListener("storage", changed);

  const kept = readLecture();
  // whether the browser stored the lecture before this tab was opened
  const isBefore = data.begins && tab.written === undefined;
  if (data.text !== null && data.digest !== tab.written && !(isBefore && kept)) {
    tab.written = data.digest;
    if (!keepLecture(data.digest, data.text)) setTriggerValue("refused", true);
    return tab.forget;
  }
  const differs = data.digest !== (kept?.digest ?? "");
  const told = `${data.digest} ${kept?.digest} ${data.awaits}`;
  if ((differs || data.awaits) && tab.told !== told) {
    tab.told = told; // the lecture is sent only once, because the server may refuse it
    setTriggerValue("read", kept && { ...kept, changed: false });
  }
  return tab.forget;
}
