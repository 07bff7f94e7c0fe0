// Undo and redo by keyboard, anywhere on the page except in a field, where the keys undo typing.
const TYPED = "input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, [contenteditable=true]";

export default function ({ setTriggerValue }) {
  const pressed = (event) => {
    const [target] = event.composedPath();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.isComposing || target.matches?.(TYPED)) return;
    const key = event.key.toLowerCase();
    const move = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (move === null) return;
    event.preventDefault();
    setTriggerValue("moved", move);
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}
