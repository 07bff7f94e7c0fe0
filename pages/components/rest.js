// The page that has begun is here. When its picture is painted, the rest is asked for, once.
export default function ({ setTriggerValue, parentElement }) {
  if (parentElement.hasAsked) return;
  parentElement.hasAsked = true;
  requestAnimationFrame(() => setTimeout(() => setTriggerValue("drawn", true)));
}
