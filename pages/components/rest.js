// The page that has begun is here. When its picture is painted, the rest is asked for, once: what comes would have to be
// drawn first.
export default function ({ setTriggerValue, parentElement }) {
  if (parentElement.hasAsked) return;
  parentElement.hasAsked = true;
  const ask = () => setTriggerValue("drawn", true);
  if (window.paintedFlow?.isConnected) ask();
  else window.addEventListener("flow-painted", ask, { once: true });
}
