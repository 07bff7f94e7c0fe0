// After a reload, says what the visitor lost with the former session: a training, or an opened file.
// The tab stores the name of its session and what this session holds; if the name changes, the session has ended.
const UNFINISHED = "attention-unfinished";

/** What the tab has stored; null if nothing, or if the stored text cannot be parsed. */
function readUnfinished() {
  try {
    const { session, held } = JSON.parse(sessionStorage.getItem(UNFINISHED) ?? "{}");
    return Array.isArray(held) ? { session, held } : null;
  } catch {
    return null;
  }
}

/**
 * @typedef {object} Unfinished
 * @property {string} session a name of the session
 * @property {string[]} held what a reload would end
 * @property {Record<string, string>} ended for each of them, the sentence that it was lost
 * @property {string} close the name of the button that takes the sentence away
 */

/** @param {import("./shared.js").Component<Unfinished>} component */
export default function ({ parentElement, data }) {
  const place = parentElement.querySelector(".unfinished");
  const before = readUnfinished();
  if (before && before.session !== data.session) {
    const texts = Object.keys(data.ended).filter((name) => before.held.includes(name));
    const close = Object.assign(document.createElement("button"), { textContent: "×", ariaLabel: data.close });
    close.onclick = () => place.replaceChildren();
    if (texts.length) place.replaceChildren(texts.map((name) => data.ended[name]).join(" "), close);
  }
  try {
    const { session, held } = data;
    if (held.length) sessionStorage.setItem(UNFINISHED, JSON.stringify({ session, held }));
    else sessionStorage.removeItem(UNFINISHED);
  } catch {} // a browser without storage shows no message
}
