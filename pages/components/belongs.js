// Returns whether the focused element uses a key itself, as a text input, a slider, a row of choices or a grid does.
// Returns true also while an input method, such as one for Chinese, handles the key.
const OWN =
  "input, textarea, select, canvas, [contenteditable=true], [role=slider], [role=radiogroup], [role=tablist], ";
const ROWS = "[role=group], [role=grid], [role=listbox], [role=combobox], [data-testid=stDataFrame]";

/**
 * @param {KeyboardEvent} event
 * @returns {boolean}
 */
export function belongs(event) {
  if (event.isComposing || event.keyCode === 229) return true; // an input method handles this key
  return event.composedPath().some((part) => part instanceof Element && part.matches(OWN + ROWS));
}

// Inputs that take no text: also the button of an upload, and a select box without a filter (inputmode "none").
const WITHOUT_TEXT = "[type=checkbox], [type=radio], [type=range], [type=file], [inputmode=none]";
const TYPED = `input:not(${WITHOUT_TEXT}), textarea, [contenteditable=true]`;

/**
 * Whether a key press types into a text: an input method, a field, or an element that matches `also`.
 * @param {KeyboardEvent} event
 * @param {string} [also] a selector
 */
export function isTyping(event, also = "textarea") {
  const [target] = event.composedPath();
  return event.isComposing || (target instanceof Element && target.matches(`${TYPED}, ${also}`));
}
