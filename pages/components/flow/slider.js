// Draws a slider that acts during a drag: the other components of the page receive the slider's value at once.
// The server computes only after the release. Streamlit's own slider sends its value only on release.
import { element, stateOf } from "../dom.js";
import { plain } from "../rounded.js";
import { hear, shared, tellOthers } from "../shared.js";

/**
 * @typedef {object} LiveSlider a slider over given values, or over a logarithmic scale from least to most
 * @property {string} of the name of the slider
 * @property {string} label
 * @property {string} colour
 * @property {boolean} [is_line] whether label, slider and value stand on one line
 * @property {any} value
 * @property {any[] | null} values
 * @property {string[]} texts the values as texts
 * @property {number} least
 * @property {number} most
 * @property {any} changes the change of each value in the run of the flow (as of follow in twin.js); without values,
 *   the parameter { step, parameter } that the slider sets
 * @property {{ number: number, step: number } | null} typed the content and step of the box for typing
 */

const ARROW_RATIO = 1.1; // factor of one arrow key, the smallest that always changes the two displayed digits

/** @param {import("../shared.js").Component<LiveSlider>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".live");
  const view = stateOf(root);
  const [name, shown, input] = ["span", "output", "input[type=range]"].map((kind) => root.querySelector(kind));
  const box = typingBox(view, shown, data, setTriggerValue);
  name.textContent = data.label;
  input.setAttribute("aria-label", data.label);
  root.style.setProperty("--colour", data.colour);
  root.classList.toggle("inline", Boolean(data.is_line));
  const isHeld = shared.heldSlider?.of === data.of && view.of === data.of;
  view.of = data.of;
  if (!isHeld) stand(input, data);
  if (!isHeld) view.stood = input.value;
  const wait = (is) => document.body.toggleAttribute("data-dragged", is); // page.css dims other parts during a drag
  if (!isHeld) wait(false);
  const drag = (change) => tellOthers("flow-drag", change);
  const say = (text, number) => {
    shown.textContent = text;
    input.setAttribute("aria-valuetext", text);
    if (!view.isTyping) box.value = number;
  };
  const show = () => {
    const setting = settingAt(input, data);
    say(data.values ? data.texts[Number(input.value)] : plain(setting), setting);
  };
  show();
  // true for a typed or linked value between the slider's positions
  const isBetween = !data.values?.includes(data.value);
  if (!isHeld && isBetween) say(plain(data.value), data.value);
  // the typed number, which the server may have refused
  if (!isHeld && data.typed && !view.isTyping) box.value = data.typed.number;
  input.oninput = () => {
    view.isTyping = false;
    show();
    shared.heldSlider = { of: data.of, position: Number(input.value) };
    tellOthers("slider-moved", shared.heldSlider);
    wait(true);
    const change = changeAt(input, data);
    if (change) drag(change);
  };
  const follow = (change) => {
    const given = data.values ? undefined : change?.params?.[data.changes.step]?.[data.changes.parameter];
    // the change concerns another parameter, or the slider already has this value
    if (given === undefined || given === settingAt(input, data)) return;
    input.value = knobAt(given, data);
    say(plain(given), given);
  };
  view.endFollow?.();
  view.endFollow = hear("flow-drag", follow);
  view.told = null; // the value sent to the server at release; null after the answer
  const letGo = () => {
    if (shared.heldSlider?.of !== data.of) return;
    shared.heldSlider = null;
    const isBack = input.value === view.stood || settingAt(input, data) === data.value;
    if (!isBack || view.told !== null) return;
    drag(null); // the drag ends here, because without a change the server does not answer
    wait(false);
  };
  input.onpointerup = input.onpointercancel = input.onblur = letGo;
  input.onkeydown = (event) => {
    const turns = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!turns || data.values) return;
    event.preventDefault();
    input.value = Number(input.value) + (turns * Math.log(ARROW_RATIO)) / Math.log(data.most / data.least);
    input.oninput();
    input.onchange();
  };
  input.onchange = () => {
    view.told = settingAt(input, data);
    letGo();
    tellOthers("flow-release");
    setTriggerValue("released", view.told);
  };
}

// Returns a text input for the slider's value.
// The text input replaces the displayed value if the value can be typed (`typed` is not null).
function typingBox(view, shown, { label, typed }, setTriggerValue) {
  const box = (view.box ??= element("input", "typed", { type: "number" }));
  shown.hidden = typed !== null;
  if (!typed) return box;
  if (!box.isConnected) shown.after(box);
  box.step = typed.step;
  box.setAttribute("aria-label", label);
  box.oninput = () => (view.isTyping = true);
  box.onchange = () => {
    view.isTyping = false;
    if (box.value !== "") setTriggerValue("typed", Number(box.value));
  };
  return box;
}

// Moves the slider's handle to the value that the server sent.
function stand(input, data) {
  Object.assign(
    input,
    data.values ? { min: 0, max: data.values.length - 1, step: 1 } : { min: 0, max: 1, step: 0.001 },
  );
  input.value = knobAt(data.value, data);
}

// Returns the position of the slider's handle for a value.
// For a value outside the slider's range, the handle is at the nearer end.
function knobAt(setting, { values, least, most }) {
  if (!values) return setting > least ? Math.log(setting / least) / Math.log(most / least) : 0;
  const isAbove = setting > values[values.length - 1];
  return values.includes(setting) ? values.indexOf(setting) : isAbove ? values.length - 1 : 0;
}

// Returns the value at the position of a slider; on a logarithmic scale it has two significant digits.
function settingAt({ value }, { values, least, most }) {
  if (values) return values[Number(value)];
  const rounded = Number((least * (most / least) ** Number(value)).toPrecision(2));
  return Math.min(most, Math.max(least, rounded)); // the limits apply again, because rounding may leave the range
}

function changeAt(input, data) {
  if (data.values) return data.changes?.[Number(input.value)];
  const { step, parameter } = data.changes;
  return { params: { [step]: { [parameter]: settingAt(input, data) } } };
}
