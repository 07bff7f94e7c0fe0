// Requests the rest of a page, once, after the picture of its first part is painted.
// A request before that would make the browser draw the rest before the picture.
import { hear, shared } from "./shared.js";

const asked = new WeakSet(); // elements of pages whose rest was already requested

/** @param {import("./shared.js").Component<unknown>} component */
export default function ({ setTriggerValue, parentElement }) {
  if (asked.has(parentElement)) return;
  asked.add(parentElement);
  const ask = () => setTriggerValue("drawn", true);
  if (shared.paintedFlow?.isConnected) ask();
  else hear("flow-painted", ask, { once: true });
}
