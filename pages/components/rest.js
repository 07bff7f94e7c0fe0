// Requests the delayed parts of a page, once, after the picture in its first part is painted.
// Delayed parts that were requested earlier would be drawn before the picture.
import { hear, shared } from "./shared.js";

const asked = new WeakSet(); // elements of pages whose delayed parts were requested

/** @param {import("./shared.js").Component<unknown>} component */
export default function ({ setTriggerValue, parentElement }) {
  if (asked.has(parentElement)) return;
  asked.add(parentElement);
  const ask = () => setTriggerValue("drawn", true);
  if (shared.paintedFlow?.isConnected) ask();
  else hear("flow-painted", ask, { once: true });
}
