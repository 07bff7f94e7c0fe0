// A slider that answers while it is dragged: what follows it shows the position at once, and the server computes when
// it is let go. Streamlit's own slider sends its value only then.
import { element, stateOf } from "../dom.js";
import { hear, shared, tellOthers } from "../shared.js";

/**
 * @typedef {object} LiveSlider one of given values, or any from least to most in equal ratios
 * @property {string} of its name
 * @property {string} label
 * @property {string} colour
 * @property {any} value
 * @property {any[] | null} values
 * @property {string[]} texts of the values
 * @property {number} least
 * @property {number} most
 * @property {any} changes what each value changes in the run of the flow; without values the parameter that it is,
 *   { step, parameter }
 * @property {{ number: number, step: number } | null} typed the box in which any other number can be typed
 */

const ARROW_RATIO = 1.1; // of an arrow key: the least that two digits show everywhere

/** @param {import("../shared.js").Component<LiveSlider>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".live");
  const view = stateOf(root);
  const [name, shown, input] = ["span", "output", "input[type=range]"].map((kind) => root.querySelector(kind));
  const box = typingBox(view, shown, data, setTriggerValue);
  name.textContent = data.label;
  input.setAttribute("aria-label", data.label);
  root.style.setProperty("--colour", data.colour);
  const isHeld = shared.heldSlider?.of === data.of && view.of === data.of;
  view.of = data.of;
  if (!isHeld) stand(input, data);
  if (!isHeld) view.stood = input.value;
  const wait = (is) => document.body.toggleAttribute("data-dragged", is); // what does not follow is pale: page.css
  if (!isHeld) wait(false);
  const drag = (change) => tellOthers("flow-drag", change);
  const say = (text, number) => {
    shown.textContent = text;
    input.setAttribute("aria-valuetext", text);
    if (!view.isTyping) box.value = number;
  };
  const show = () => {
    const setting = settingAt(input, data);
    say(data.values ? data.texts[Number(input.value)] : spellSetting(setting), setting);
  };
  show();
  const isBetween = !data.values?.includes(data.value); // one that was typed, or is from a link
  if (!isHeld && isBetween) say(spellSetting(data.value), data.value);
  if (!isHeld && data.typed && !view.isTyping) box.value = data.typed.number; // also one that is refused
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
    if (given === undefined || given === settingAt(input, data)) return; // another hand, or its own
    input.value = knobAt(given, data);
    say(spellSetting(given), given);
  };
  view.endFollow?.();
  view.endFollow = hear("flow-drag", follow);
  view.told = null; // what was let go, until the server answers
  const letGo = () => {
    if (shared.heldSlider?.of !== data.of) return;
    shared.heldSlider = null;
    const isBack = input.value === view.stood || settingAt(input, data) === data.value;
    if (!isBack || view.told !== null) return;
    drag(null); // nobody will answer
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

// The box in which the value can be typed, in the place of what else shows it.
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

// Puts the slider where the server says that it stands.
function stand(input, data) {
  Object.assign(
    input,
    data.values ? { min: 0, max: data.values.length - 1, step: 1 } : { min: 0, max: 1, step: 0.001 },
  );
  input.value = knobAt(data.value, data);
}

// Where the knob stands; for a setting that the slider does not have, at the end that is next to it.
function knobAt(setting, { values, least, most }) {
  if (!values) return setting > least ? Math.log(setting / least) / Math.log(most / least) : 0;
  const isAbove = setting > values[values.length - 1];
  return values.includes(setting) ? values.indexOf(setting) : isAbove ? values.length - 1 : 0;
}

// The setting at which a slider stands; of equal ratios with two digits.
function settingAt({ value }, { values, least, most }) {
  if (values) return values[Number(value)];
  const rounded = Number((least * (most / least) ** Number(value)).toPrecision(2));
  return Math.min(most, Math.max(least, rounded)); // rounding may leave the range
}

function changeAt(input, data) {
  if (data.values) return data.changes?.[Number(input.value)];
  const { step, parameter } = data.changes;
  return { params: { [step]: { [parameter]: settingAt(input, data) } } };
}

// A setting as it was chosen: 1, 0.5.
function spellSetting(value) {
  return String(value).replace("-", "−");
}
