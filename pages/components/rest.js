// The first part of a page is loaded. Requests the rest, once, after the picture is painted: earlier the browser would
// draw the rest before the picture.
import { hear, shared } from "./shared.js";

const asked = new WeakSet(); // the elements of pages whose rest was requested

/** @param {import("./shared.js").Component<unknown>} component */
export default function ({ setTriggerValue, parentElement }) {
  if (asked.has(parentElement)) return;
  asked.add(parentElement);
  const ask = () => setTriggerValue("drawn", true);
  if (shared.paintedFlow?.isConnected) ask();
  else hear("flow-painted", ask, { once: true });
}
