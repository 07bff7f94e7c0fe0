// Sends undo and redo to the server: key presses anywhere except in a text field, and clicks on the two buttons.
// This script sends the clicks itself, because Streamlit would send only the last one while the server is busy.
// Key presses of a held key come faster than the server answers; they are sent together once the page shows the answer.
// Until the answer arrives, the page's controls have outdated values, which a message would contain.
import { isTyping } from "./belongs.js";
import { shared } from "./shared.js";

const MOVES = ["undo", "redo"]; // the moves, which are also the keys of the two buttons
const MOST = 100; // most moves in one message
const PATIENCE_MS = 5000; // ms: a message without an answer by then counts as lost; the server never does a move twice
const IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]';

/** @param {import("./shared.js").Component<{ done: number }>} component */
export default function ({ data, setTriggerValue, parentElement }) {
  const pressed = (shared.pressed ??= { first: 0, moves: [], sentAt: -Infinity });
  const place = parentElement.querySelector("div");
  shared.pressedPlace = place; // of several elements, only the one drawn last sends messages
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
    event.stopImmediatePropagation(); // prevents the button itself from sending the click, too
    add(move, event);
  };
  shared.forgetPress?.(); // cleans up here, because Streamlit does not call the cleanup function when it sends new data
  window.addEventListener("keydown", press);
  window.addEventListener("click", click, true);
  shared.forgetPress = () => {
    window.removeEventListener("keydown", press);
    window.removeEventListener("click", click, true);
  };
  setTimeout(send, 50); // a short pause, because the script run that sent this data is still drawing
  return shared.forgetPress;
}
