// The lines of a layer: the number of each is a button that shows what the line made, and at its end stands one that
// says that it is the wrong line. Both are asked of the server, which answers with the map and the verdict. data.lines:
// of each what it makes, the code behind that, the step to look at or null, and the verdict, "", "✓" or "×".
import { button, element } from "../dom.js";
import { roving } from "../roving.js";

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
