// Shows the right code lines of a layer; in the shown run, a wrong line replaces one of them.
// A line's number is a button that shows the line's result; the button at its end guesses that this line is wrong.
// The server answers with the picture of the line's result, or says whether the guess was right.
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

const heads = ({ asksLook, asksGuess }) =>
  element("div", "heads", [element("span", "", asksLook), element("span", "asked", asksGuess)]);

function listing({ lines, looked, alt }, tell) {
  const rows = lines.map((line, place) => {
    const name = line.step && line.step === looked ? "line looked" : "line";
    return element("div", name, { style: `--made: ${line.ink}` }, [
      lookButton(line, looked, tell), codeOf(line), guessButton(line, place, tell),
    ]);
  });
  return element("div", "listing", { role: "group", ariaLabel: alt }, rows);
}

function lookButton({ step, number, looksAt }, looked, tell) {
  const isLooked = Boolean(step) && step === looked;
  const look = { textContent: number, title: looksAt, ariaLabel: looksAt, ariaPressed: String(isLooked) };
  const made = button(isLooked ? "look chosen" : "look", look, () => step && tell("looked", step));
  if (!step) made.ariaDisabled = "true";
  return made;
}

const codeOf = ({ made, rest }) => element("code", "", [element("b", "", made), rest]);

function guessButton({ verdict, blames, isGuessed }, place, tell) {
  const guess = button("guess", {
    textContent: verdict || "?", title: blames, ariaLabel: verdict ? `${blames} ${verdict}` : blames,
    ariaPressed: String(isGuessed),
  }, () => tell("guessed", place));
  if (verdict) guess.dataset.verdict = verdict;
  return guess;
}
