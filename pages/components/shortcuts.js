// Sends undo and redo keys to the server, from anywhere on the page except a text field, where they undo typing.
import { isTyping } from "./belongs.js";
/** @param {import("./shared.js").Component<unknown>} component */
export default function ({ setTriggerValue }) {
  const pressed = (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isTyping(event)) return;
    const key = event.key.toLowerCase();
    const move = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (move === null) return;
    event.preventDefault();
    setTriggerValue("moved", move);
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}
