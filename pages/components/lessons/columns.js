// Shows the softmax in three columns: scores, which can be dragged, their exponentials, and the weights.
import { button, element, keepFocus, setColours, stateOf } from "../dom.js";
import { arrowOf, followPointer, Rest } from "../drag.js";
import { isAlike, said, spellNumber, spellWholePercent } from "../flow/words.js";
import { followSlider } from "../live/position.js";
import { sharesOf } from "../model/controls.js";
import { percentDigits, plain, rounded } from "../rounded.js";
import { tellOthers } from "../shared.js";

/** @typedef {import("../live/position.js").Sliders} Sliders */

/**
 * @typedef {object} Columns
 * @property {number[]} numbers
 * @property {(number | null)[]} exponentials the server's results; null if too large for a float
 * @property {number[]} shares the server's results
 * @property {number[]} temperatures the temperature at each position of the slider
 * @property {string[]} written the temperatures as texts
 * @property {number} reach the largest absolute value of a number
 * @property {number} step
 * @property {{ step: string, place: number } | null} opened the number whose arithmetic is shown
 * @property {number} wanted the share to reach for the goal
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

const RAISED = { "-": "⁻", ...Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].entries()) };

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Sliders & Columns} data
 * @property {(event: string, value: unknown) => void} trigger
 * @property {Rest} rest ends a change by arrow keys after a pause
 * @property {number | null} held the dragged number
 * @property {number[]} numbers the drawn numbers
 * @property {number} position the position of the slider
 */

/** @param {import("../shared.js").Component<Sliders & Columns>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".columns");
  setColours(root, data.palette, ["ink", "faint", "outline", "plus", "minus", "x", "share"]);
  root.setAttribute("aria-label", data.text.alt);
  /** @type {View} */
  const view = stateOf(root, () => ({ root, held: null }));
  Object.assign(view, { data, trigger: setTriggerValue });
  view.rest ??= new Rest(() => letGo(view)); // a pause ends a change by arrow keys
  if (view.held === null && !view.rest.isOn) view.numbers = data.numbers;
  followSlider(root, data, (position) => {
    view.position = position ?? data.position;
    draw(view);
  });
}

// ---- the numbers ----------------------------------------------------------------------------------------------------
function numbersNow({ data, numbers, position }) {
  const isProven = position === data.position && isAlike(numbers, data.numbers);
  if (isProven) return { exponentials: data.exponentials.map((number) => number ?? Infinity), shares: data.shares };
  const temperature = data.temperatures[position];
  return {
    exponentials: numbers.map((number) => Math.exp(number / temperature)),
    shares: [...sharesOf(numbers, { temperature })],
  };
}

function describe({ data, position }, shares) {
  const largest = Math.max(...shares);
  const percent = largest >= 0.995 && largest < 1 ? data.text.nearly_all : percentDigits(largest);
  return { T: data.written[position], count: shares.length, percent, ratio: rounded(largest * shares.length, 1) };
}

// Formats a number of any size, such as 7.39 or 2.7 × 10⁴³.
function spellPower(number) {
  if (number === Infinity) return "∞";
  if (number === 0 || (number >= 0.01 && number < 10_000)) return spellNumber(number);
  const [digits, power] = number.toExponential(1).split("e");
  return `${digits} × 10${[...power.replace("+", "")].map((digit) => RAISED[digit]).join("")}`;
}

// ---- the columns ----------------------------------------------------------------------------------------------------
/** @param {View} view */
function draw(view) {
  const { data, numbers, position } = view;
  const { exponentials, shares } = numbersNow(view);
  const usual = data.temperatures[position] === 1 ? null : sharesOf(numbers);
  const most = Math.max(...numbers);
  const refocus = keepFocus(view.root);
  const rows = numbers.flatMap((number, place) => [
    numberCell(view, place),
    arrow(),
    resultCell(
      view, "exponentials", place, Math.exp((number - most) / data.temperatures[position]),
      spellPower(exponentials[place]),
    ),
    arrow(),
    resultCell(view, "weights", place, shares[place], spellWholePercent(shares[place]), usual?.[place]),
  ]);
  const sum = (text) => element("div", "sum", said(data.text.sum, { sum: text }));
  const total = exponentials.reduce((one, other) => one + other, 0);
  const feet = [element("div", ""), arrow(""), sum(spellPower(total)), arrow(""), sum("100 %")];
  view.root.classList.toggle("many", numbers.length > 6);
  view.root.replaceChildren(...heads(view, usual), ...rows, ...feet);
  refocus();
}

function heads({ data, position }, usual) {
  const isUsual = usual === null;
  const head = (text) => element("div", "head", text);
  const share = head(data.text.share);
  if (!isUsual) share.append(element("span", "usual", data.text.usual));
  return [
    head(data.text.x), arrow(""), head(isUsual ? "exp(x)" : `exp(x / ${data.written[position]})`), arrow(""), share,
  ];
}

const arrow = (textContent = "→") => element("span", "arrow", { textContent, ariaHidden: true });

/** @param {View} view */
function numberCell(view, place) {
  const { data, numbers } = view;
  const number = numbers[place];
  const share = number / data.reach / 2;
  const track = element("span", `track signed ${view.held === place ? "held" : ""}`, [
    beam(number < 0 ? "minus" : "plus", Math.min(0.5, 0.5 + share), Math.abs(share)), grip(0.5 + share),
  ]);
  const text = spellStep(number, data.step);
  track.onpointerdown = (event) => take(view, place, track, event);
  return element("div", "cell", {
    role: "slider", tabIndex: 0, ariaLabel: said(data.text.drag, { place: place + 1 }), place: `numbers ${place}`,
    ariaValueNow: number, ariaValueMin: -data.reach, ariaValueMax: data.reach, ariaValueText: text,
    onkeydown: (event) => press(view, place, event),
  }, [track, element("span", "much", text)]);
}

// Formats a number; if the slider's step is below 1, with at most four decimals.
function spellStep(number, step) {
  return plain(step < 1 ? Number(number.toFixed(4)) : number);
}

function resultCell({ data, trigger }, step, place, share, text, usual) {
  const isOpened = data.opened?.step === step && data.opened.place === place;
  const look = {
    ariaLabel: `${data.text[step]} ${place + 1}: ${text}`, ariaPressed: isOpened, place: `${step} ${place}`,
  };
  const act = () => trigger("clicked", { step: `now:${step}`, index: [0, 0, 0, place] });
  const track = element("span", "track", [beam(step, 0, share)]);
  if (usual !== undefined) track.append(element("span", "mark", { style: `left: ${100 * usual}%` }));
  return button(`cell ${step === "exponentials" ? "powers" : ""} ${isOpened ? "opened" : ""}`, look, act, [
    track, element("span", "much", text),
  ]);
}

const beam = (name, left, width) =>
  element("span", `beam ${name}`, { style: `left: ${100 * left}%; width: ${100 * width}%` });

const grip = (left) => element("span", "grip", { style: `left: ${100 * left}%` });

// ---- input ----------------------------------------------------------------------------------------------------------
/** @param {View} view */
function take(view, place, track, event) {
  if (event.button !== 0) return;
  view.held = place;
  const box = track.getBoundingClientRect();
  const follow = ({ clientX }) => moveTo(view, place, (2 * ((clientX - box.left) / box.width) - 1) * view.data.reach);
  followPointer(view.root, event, {
    move: follow,
    release: () => letGo(view),
    cancel: () => takeBack(view), // the browser cancels a drag when it scrolls instead
  });
  /** @type {HTMLElement | null} */
  const cell = view.root.querySelector(`[data-place="numbers ${place}"]`);
  cell?.focus();
  follow(event);
  event.preventDefault();
}

/** Changes a number during a drag; the columns, sentences and flow follow without the server. @param {View} view */
function moveTo(view, place, number) {
  const { reach, step } = view.data;
  const inside = Math.max(-reach, Math.min(reach, number));
  const rounded = Number((Math.round(inside / step) * step).toPrecision(6));
  view.numbers = view.numbers.map((other, at) => (at === place ? rounded : other));
  draw(view);
  const { shares } = numbersNow(view);
  tellMoved({ values: describe(view, shares), isReached: Math.max(...shares) >= view.data.wanted });
  tellOthers("flow-drag", { values: { k: view.numbers, v: view.numbers } });
}

const tellMoved = (detail) => tellOthers("numbers-moved", detail);

/** @param {View} view */
function letGo(view) {
  view.held = null;
  if (isAlike(view.numbers, view.data.numbers)) return takeBack(view);
  draw(view);
  tellOthers("flow-release");
  view.trigger("moved", view.numbers);
}

/** @param {View} view */
function takeBack(view) {
  view.held = null;
  view.numbers = view.data.numbers;
  draw(view);
  tellMoved(null);
  tellOthers("flow-drag", null);
}

/** @param {View} view */
function press(view, place, event) {
  const arrow = arrowOf(event);
  if (!arrow) return;
  moveTo(view, place, view.numbers[place] + (arrow[0] + arrow[1]) * view.data.step);
  view.rest.begin();
}
