// Undo and redo by keyboard, anywhere on the page except in a field, where the keys undo typing.
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
