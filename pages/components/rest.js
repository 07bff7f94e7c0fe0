// The page that has begun is here. When its picture is painted, the rest is asked for, once: what comes would have to
// be drawn first.
import { hear, shared } from "./shared.js";

const asked = new WeakSet(); // the elements of pages whose rest was asked for

export default function ({ setTriggerValue, parentElement }) {
  if (asked.has(parentElement)) return;
  asked.add(parentElement);
  const ask = () => setTriggerValue("drawn", true);
  if (shared.paintedFlow?.isConnected) ask();
  else hear("flow-painted", ask, { once: true });
}
