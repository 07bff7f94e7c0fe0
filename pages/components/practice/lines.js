// The correct code lines of a layer, one of which was replaced by a wrong line in the shown run. The line number is a
// button that shows the result of the line; the button at the end guesses that the run has a wrong line there. The
// server answers with the map or the verdict.
import { button, element } from "../dom.js";
import { roving } from "../roving.js";

/**
 * @typedef {object} Lines
 * @property {Line[]} lines the lines of code
 * @property {string | null} looked the shown step
 * @property {string} asksLook
 * @property {string} asksGuess
 * @property {string} alt
 */

/**
 * @typedef {object} Line
 * @property {string} number
 * @property {string} made the name that the line assigns
 * @property {string} rest the code after that name
 * @property {string} ink
 * @property {string | null} step the step that the line computes
 * @property {string} looksAt the label of the button that shows the step
 * @property {string} blames the label of the button that guesses
 * @property {"" | "✓" | "×"} verdict
 * @property {boolean} isGuessed
 */

/** @param {import("../shared.js").Component<Lines>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".lines");
  const fill = () => root.replaceChildren(heads(data), listing(data, setTriggerValue));
  roving(root, fill, "button", () => 2);
}

function heads({ asksLook, asksGuess }) {
  const line = element("div", "heads");
  line.append(element("span", "", asksLook), element("span", "asked", asksGuess));
  return line;
}

function listing({ lines, looked, alt }, tell) {
  const all = element("div", "listing", { role: "group", ariaLabel: alt });
  lines.forEach((line, place) => {
    const row = element("div", line.step && line.step === looked ? "line looked" : "line");
    row.style.setProperty("--made", line.ink);
    row.append(lookButton(line, place, looked, tell), codeOf(line), guessButton(line, place, tell));
    all.append(row);
  });
  return all;
}

function lookButton({ step, number, looksAt }, place, looked, tell) {
  const name = step && step === looked ? "look chosen" : "look";
  const look = button(name, { textContent: number, title: looksAt }, () => {
    if (step) tell("looked", step);
  });
  look.ariaLabel = looksAt;
  look.ariaPressed = String(Boolean(step) && step === looked);
  if (!step) look.ariaDisabled = "true";
  return look;
}

function codeOf({ made, rest }) {
  const code = document.createElement("code");
  code.append(element("b", "", made), rest);
  return code;
}

function guessButton({ verdict, blames, isGuessed }, place, tell) {
  const guess = button("guess", { textContent: verdict || "?", title: blames }, () => tell("guessed", place));
  guess.ariaLabel = verdict ? `${blames} ${verdict}` : blames;
  guess.ariaPressed = String(isGuessed);
  if (verdict) guess.dataset.verdict = verdict;
  return guess;
}
