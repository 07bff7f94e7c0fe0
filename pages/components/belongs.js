// Whether a key belongs to what has the focus: a text, a slider, a row of choices, a grid; or to a Chinese input
// method.
const OWN =
  "input, textarea, select, canvas, [contenteditable=true], [role=slider], [role=radiogroup], [role=tablist], ";
const ROWS = "[role=group], [role=grid], [role=listbox], [role=combobox], [data-testid=stDataFrame]";

/**
 * @param {KeyboardEvent} event
 * @returns {boolean}
 */
export function belongs(event) {
  if (event.isComposing || event.keyCode === 229) return true; // 229: the first key that an input method takes
  return event.composedPath().some((part) => part instanceof Element && part.matches(OWN + ROWS));
}
