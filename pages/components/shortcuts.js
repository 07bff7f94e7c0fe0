// Sends undo and redo keys to the server, from anywhere on the page except a text field, where they undo typing, and
// clicks on the buttons for undo and redo, of which Streamlit would send only the last while the server is busy.
// A held key is faster than the server: what is pressed meanwhile is sent together, once the page has drawn the answer.
// Until then the page's controls hold values of before, and would send these along.
import { isTyping } from "./belongs.js";
import { shared } from "./shared.js";

const MOVES = ["undo", "redo"]; // the keys of the buttons as well
const MOST = 100; // moves in one message
const PATIENCE_MS = 5000; // a message that has no answer by then is lost; the server does no move twice
const IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]';

/** @param {import("./shared.js").Component<{ done: number }>} component */
export default function ({ data, setTriggerValue, parentElement }) {
  const pressed = (shared.pressed ??= { first: 0, moves: [], sentAt: -Infinity });
  const place = parentElement.querySelector("div");
  shared.pressedPlace = place; // the element drawn last sends
  if (data.done > pressed.first) {
    pressed.moves.splice(0, data.done - pressed.first);
    pressed.first = data.done;
    pressed.sentAt = -Infinity;
  }
  const send = () => {
    if (shared.pressedPlace !== place || pressed.moves.length === 0) return;
    if (performance.now() - pressed.sentAt < PATIENCE_MS) return;
    if (!document.querySelector(IDLE)) {
      setTimeout(send, 50);
      return;
    }
    pressed.sentAt = performance.now();
    setTriggerValue("moved", { first: pressed.first, moves: pressed.moves.slice(0, MOST) });
  };
  const add = (move, event) => {
    event.preventDefault();
    if (pressed.moves.length < MOST) pressed.moves.push(move);
    send();
  };
  const press = (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isTyping(event)) return;
    const key = event.key.toLowerCase();
    const move = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (move !== null) add(move, event);
  };
  const click = (event) => {
    const move = MOVES.find((name) => event.target.closest?.(`.st-key-${name} button`));
    if (!move) return;
    event.stopImmediatePropagation(); // the button would send it, too
    add(move, event);
  };
  shared.forgetPress?.(); // cleans up here, because Streamlit does not call the cleanup function when it sends new data
  window.addEventListener("keydown", press);
  window.addEventListener("click", click, true);
  shared.forgetPress = () => {
    window.removeEventListener("keydown", press);
    window.removeEventListener("click", click, true);
  };
  setTimeout(send, 50); // the run that brought this data is still drawing
  return shared.forgetPress;
}
