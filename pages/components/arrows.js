// Sends "next" or "previous" for an arrow key, unless the focused element handles arrow keys itself.
import { belongs } from "./belongs.js";

/** @param {import("./shared.js").Component<unknown>} component */
export default function ({ setTriggerValue }) {
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const way = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    if (!way || belongs(event)) return;
    event.preventDefault();
    setTriggerValue("moved", way);
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}
