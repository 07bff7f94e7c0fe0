// Sends a text pasted into the sentence box to the server at once if it has several lines (the box would join them),
// or if it cannot be a sentence (numbers alone, or an address) and would replace all text of the box.
// The click or touch that enters the sentence box, or a box with a matrix as text, selects its text, so that a
// visitor's own text replaces it. A matrix that is pasted over the whole text of its box is applied at once.
// A typed sentence is applied after a pause in typing (debounce); the key Enter applies it at once.
import { Rest } from "./drag.js";
import { shared } from "./shared.js";
import { isTouch } from "./touch.js";

const TYPING_RESTS_MS = 1500; // ms of pause after which a typed sentence is applied
const TYPED = ["input", "compositionend"]; // "compositionend" ends the input of Chinese words
const CONNECTED = '[data-test-connection-state="CONNECTED"]';
const MOST_PASTED = 200_001; // most characters that are sent; the server refuses longer texts

const NOTATION = /\b(np|array|tensor|torch|dtype|float\d*|device|cpu|cuda|mps|begin|end|[bpvB]?matrix)\b|e(?=[-+]?\d)/g;
const ADDRESS = /^https?:\/\/\S+$/i;

/** Whether a text is numbers alone, as a matrix has them, or an address. @type {(text: string) => boolean} */
export function isNoSentence(text) {
  return ADDRESS.test(text) || (/\d\.?[^\d.]+\.?\d/.test(text) && !/\p{L}/u.test(text.replace(NOTATION, "")));
}

/** Whether a paste would replace all of the text of a box. @param {HTMLInputElement | HTMLTextAreaElement} box */
const replacesAll = (box) => (box.selectionEnd ?? 0) - (box.selectionStart ?? 0) === box.value.length;

/** @param {EventTarget | null} element @returns {element is HTMLInputElement} */
function isSentenceBox(element) {
  return element instanceof HTMLInputElement && Boolean(element.closest(".st-key-c_text"));
}

const MATRIX_KEYS = ["c_x_", "c_context_", "c_q_", "c_k_", "c_v_", "p_"]; // beginnings of the boxes' widget keys
const MATRIX_BOX = MATRIX_KEYS.map((key) => `[class*="st-key-${key}"]`).join(",");

/** @param {EventTarget | null} element @returns {element is HTMLTextAreaElement} */
function isMatrixBox(element) {
  return element instanceof HTMLTextAreaElement && Boolean(element.closest(MATRIX_BOX));
}

/** Applies the text of a box, as Streamlit does at Ctrl+Enter, once the paste is in it. @param {HTMLElement} box */
function applyPasted(box) {
  box.addEventListener("input", () => setTimeout(() => box.dispatchEvent(
    new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }),
  )), { once: true });
}

/** @type {HTMLInputElement | null} */
let typedIn = null; // the sentence box in which the visitor typed last
const typing = new Rest(() => {
  if (!typedIn?.isConnected || !typedIn.value.trim() || !typedIn.matches(":focus")) return;
  if (!document.querySelector(CONNECTED)) typing.begin(); // while the connection is lost, Streamlit would drop the text
  else typedIn.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
}, TYPING_RESTS_MS);

/** @param {import("./shared.js").Component<null>} component */
export default function ({ setTriggerValue }) {
  const paste = (event) => {
    if (isMatrixBox(event.target) && replacesAll(event.target)) applyPasted(event.target);
    const text = event.clipboardData?.getData("text/plain").trim() ?? "";
    if (!event.target.closest?.(".st-key-c_text")) return;
    if (!text.includes("\n") && !(isNoSentence(text) && replacesAll(event.target))) return;
    event.preventDefault();
    setTriggerValue("pasted", text.slice(0, MOST_PASTED));
  };
  const select = ({ target }) => {
    if (!isSentenceBox(target) && !isMatrixBox(target)) return;
    // The click that follows would put the caret between letters. Dragging selects a part of the text.
    const click = () => target.selectionStart === target.selectionEnd && target.select();
    target.addEventListener("click", click, { once: true });
    target.addEventListener("blur", () => target.removeEventListener("click", click), { once: true });
  };
  const type = (event) => {
    if (!isSentenceBox(event.target) || isTouch()) return;
    typedIn = event.target;
    if (event.isComposing) typing.drop(); // an input method is composing Chinese
    else typing.begin();
  };
  shared.forgetPaste?.(); // cleans up here, because Streamlit does not call the cleanup function when it sends new data
  document.addEventListener("paste", paste);
  document.addEventListener("focusin", select);
  for (const name of TYPED) document.addEventListener(name, type);
  shared.forgetPaste = () => {
    document.removeEventListener("paste", paste);
    document.removeEventListener("focusin", select);
    for (const name of TYPED) document.removeEventListener(name, type);
  };
  return shared.forgetPaste;
}
