// The way on and back by the arrow keys, unless they belong to what has the focus: a text, a slider, a row of choices.
const OWN = "input, textarea, select, canvas, [contenteditable=true], [role=slider], [role=radiogroup], [role=tablist], ";
const ROWS = "[role=group], [role=grid], [role=listbox], [role=combobox], [data-testid=stDataFrame]";

export default function ({ setTriggerValue }) {
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return;
    const way = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    if (!way || event.composedPath().some((part) => part.matches?.(OWN + ROWS))) return;
    event.preventDefault();
    setTriggerValue("moved", way);
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}
