// Sends a text of several lines that is pasted into the sentence box to the server; the box itself would join them.
import { shared } from "./shared.js";

const MOST_PASTED = 200_001; // most characters that are sent; the server refuses longer texts

/** @param {import("./shared.js").Component<null>} component */
export default function ({ setTriggerValue }) {
  const paste = (event) => {
    const text = event.clipboardData?.getData("text/plain").trim() ?? "";
    if (!event.target.closest?.(".st-key-c_text") || !text.includes("\n")) return;
    event.preventDefault();
    setTriggerValue("pasted", text.slice(0, MOST_PASTED));
  };
  shared.forgetPaste?.(); // cleans up here, because Streamlit does not call the cleanup function when it sends new data
  document.addEventListener("paste", paste);
  shared.forgetPaste = () => document.removeEventListener("paste", paste);
  return shared.forgetPaste;
}
