// Sends what is pasted into the sentence box to the server at once, if it has several lines, which the box would join,
// or if it can be no sentence: numbers alone, or an address, that would replace all of the box's text.
// The first touch of the sentence box selects its text, so that a visitor's own sentence replaces the example's.
import { shared } from "./shared.js";

const MOST_PASTED = 200_001; // most characters that are sent; the server refuses longer texts

const NOTATION = /\b(np|array|tensor|torch|dtype|float\d*|device|cpu|cuda|mps|begin|end|[bpvB]?matrix)\b|e(?=[-+]?\d)/g;
const ADDRESS = /^https?:\/\/\S+$/i;

/** Whether a text is numbers alone, as a matrix has them, or an address. @type {(text: string) => boolean} */
export function isNoSentence(text) {
  return ADDRESS.test(text) || (/\d\.?[^\d.]+\.?\d/.test(text) && !/\p{L}/u.test(text.replace(NOTATION, "")));
}

/** Whether a paste would replace all of the text of a box. @param {HTMLInputElement} box */
const replacesAll = (box) => (box.selectionEnd ?? 0) - (box.selectionStart ?? 0) === box.value.length;

/** @param {import("./shared.js").Component<null>} component */
export default function ({ setTriggerValue }) {
  const paste = (event) => {
    const text = event.clipboardData?.getData("text/plain").trim() ?? "";
    if (!event.target.closest?.(".st-key-c_text")) return;
    if (!text.includes("\n") && !(isNoSentence(text) && replacesAll(event.target))) return;
    event.preventDefault();
    setTriggerValue("pasted", text.slice(0, MOST_PASTED));
  };
  const select = ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.closest(".st-key-c_text")) return;
    if (!matchMedia("(pointer: coarse)").matches) return;
    // The click that follows would put the caret between the letters.
    target.addEventListener("click", () => target.select(), { once: true });
  };
  shared.forgetPaste?.(); // cleans up here, because Streamlit does not call the cleanup function when it sends new data
  document.addEventListener("paste", paste);
  document.addEventListener("focusin", select);
  shared.forgetPaste = () => {
    document.removeEventListener("paste", paste);
    document.removeEventListener("focusin", select);
  };
  return shared.forgetPaste;
}
