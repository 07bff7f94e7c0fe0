// Numbers, their exponentials and their shares of 1: three columns, the first of which a hand drags. data: as of
// followSlider, and { numbers, exponentials, shares, temperatures, written, reach, step, opened, wanted, palette, text
// }. exponentials, shares: what the server computed at its position, null for what it cannot hold. written: the
// temperatures as texts. reach: how far the numbers go, in steps. opened: the number that is explained, or null.
import { button, element, keepFocus, setColours } from "../dom.js";
import { isAlike, said, spellNumber, spellWholePercent } from "../flow/words.js";
import { followSlider } from "../live/position.js";
import { sharesOf } from "../model/controls.js";
import { percentDigits, rounded } from "../rounded.js";
import { tellOthers } from "../shared.js";

const KEYS_REST = 500; // ms: after the last press the server hears of it
const KEY_STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
const RAISED = { "-": "⁻", ...Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].entries()) };

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".columns");
  setColours(root, data.palette, ["ink", "faint", "outline", "plus", "minus", "x", "share"]);
  root.setAttribute("aria-label", data.text.alt);
  root.trigger = setTriggerValue;
  if (!root.held && !root.rests) root.numbers = data.numbers;
  if (!root.onpointermove) listenToHand(root);
  followSlider(root, data, (position) => {
    root.position = position;
    draw(root);
  });
}

function listenToHand(root) {
  root.onpointermove = (event) => root.held && moveTo(root, root.held.place, numberUnder(root, event));
  root.onpointerup = () => root.held && letGo(root);
  root.onpointercancel = () => root.held && takeBack(root); // the finger scrolls
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

// A number of any size: 7.39, 2.7 × 10⁴³.
function spellPower(number) {
  if (number === Infinity) return "∞";
  if (number === 0 || (number >= 0.01 && number < 10_000)) return spellNumber(number);
  const [digits, power] = number.toExponential(1).split("e");
  return `${digits} × 10${[...power.replace("+", "")].map((digit) => RAISED[digit]).join("")}`;
}

// ---- the columns ----------------------------------------------------------------------------------------------------
function draw(root) {
  const { data, numbers, position } = root;
  const { exponentials, shares } = numbersNow(root);
  const usual = data.temperatures[position] === 1 ? null : sharesOf(numbers);
  const most = Math.max(...numbers);
  const refocus = keepFocus(root);
  const rows = numbers.flatMap((number, place) => [
    numberCell(root, place),
    arrow(),
    resultCell(
      root, "exponentials", place, Math.exp((number - most) / data.temperatures[position]),
      spellPower(exponentials[place]),
    ),
    arrow(),
    resultCell(root, "weights", place, shares[place], spellWholePercent(shares[place]), usual?.[place]),
  ]);
  const sum = (text) => element("div", "sum", said(data.text.sum, { sum: text }));
  const total = exponentials.reduce((one, other) => one + other, 0);
  const feet = [element("div", ""), arrow(""), sum(spellPower(total)), arrow(""), sum("100 %")];
  root.classList.toggle("many", numbers.length > 6);
  root.replaceChildren(...heads(root, usual), ...rows, ...feet);
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

function numberCell(root, place) {
  const { data, numbers } = root;
  const number = numbers[place];
  const share = number / data.reach / 2;
  const track = element("span", `track signed ${root.held?.place === place ? "held" : ""}`);
  track.append(beam(number < 0 ? "minus" : "plus", Math.min(0.5, 0.5 + share), Math.abs(share)), grip(0.5 + share));
  const text = spellStep(number, data.step);
  const cell = element("div", "cell", {
    role: "slider", tabIndex: 0, ariaLabel: said(data.text.drag, { place: place + 1 }),
  });
  Object.assign(cell, {
    ariaValueNow: number, ariaValueMin: -data.reach, ariaValueMax: data.reach, ariaValueText: text,
  });
  cell.dataset.place = `numbers ${place}`;
  cell.onkeydown = (event) => press(root, place, event);
  track.onpointerdown = (event) => take(root, place, track, event);
  cell.append(track, element("span", "much", text));
  return cell;
}

// As many decimals as a step has; a number that was typed may have more.
function spellStep(number, step) {
  return (step < 1 ? String(Number(number.toFixed(4))) : String(number)).replace("-", "−");
}

function resultCell({ data, trigger }, step, place, share, text, usual) {
  const isOpened = data.opened?.step === step && data.opened.place === place;
  const cell = button(
    `cell ${step === "exponentials" ? "powers" : ""} ${isOpened ? "opened" : ""}`,
    { ariaLabel: `${data.text[step]} ${place + 1}: ${text}`, ariaPressed: isOpened },
    () => trigger("clicked", { step: `now:${step}`, index: [0, 0, 0, place] }),
  );
  cell.dataset.place = `${step} ${place}`;
  const track = element("span", "track");
  track.append(beam(step, 0, share));
  if (usual !== undefined) track.append(Object.assign(element("span", "mark"), { style: `left: ${100 * usual}%` }));
  cell.append(track, element("span", "much", text));
  return cell;
}

function beam(name, left, width) {
  const made = element("span", `beam ${name}`);
  Object.assign(made.style, { left: `${100 * left}%`, width: `${100 * width}%` });
  return made;
}

function grip(left) {
  const made = element("span", "grip");
  made.style.left = `${100 * left}%`;
  return made;
}

// ---- what a hand does -----------------------------------------------------------------------------------------------
function take(root, place, track, event) {
  if (event.button !== 0) return;
  root.held = { place, box: track.getBoundingClientRect(), before: root.numbers };
  root.setPointerCapture(event.pointerId);
  root.querySelector(`[data-place="numbers ${place}"]`).focus();
  moveTo(root, place, numberUnder(root, event));
  event.preventDefault();
}

function numberUnder({ data, held: { box } }, { clientX }) {
  return (2 * ((clientX - box.left) / box.width) - 1) * data.reach;
}

// Other numbers: the columns, the sentences and the flow follow, until the server has computed.
function moveTo(root, place, number) {
  const { reach, step } = root.data;
  const inside = Math.max(-reach, Math.min(reach, number));
  const rounded = Number((Math.round(inside / step) * step).toPrecision(6));
  root.numbers = root.numbers.map((other, at) => (at === place ? rounded : other));
  draw(root);
  const { shares } = numbersNow(root);
  tellMoved({ values: describe(root, shares), isReached: Math.max(...shares) >= root.data.wanted });
  tellOthers("flow-drag", { values: { k: root.numbers, v: root.numbers } });
}

const tellMoved = (detail) => tellOthers("numbers-moved", detail);

function letGo(root) {
  root.held = null;
  if (isAlike(root.numbers, root.data.numbers)) return takeBack(root);
  draw(root);
  tellOthers("flow-release");
  root.trigger("moved", root.numbers);
}

function takeBack(root) {
  root.held = null;
  root.numbers = root.data.numbers;
  draw(root);
  tellMoved(null);
  tellOthers("flow-drag", null);
}

function press(root, place, event) {
  const way = KEY_STEPS[event.key];
  if (!way) return;
  event.preventDefault();
  event.stopPropagation();
  moveTo(root, place, root.numbers[place] + way * root.data.step);
  clearTimeout(root.rests);
  root.rests = setTimeout(() => {
    root.rests = null;
    letGo(root);
  }, KEYS_REST);
}
