// Draws a poll: the choices as buttons while its question is open, then the answers as bars beside the truth.
import { button, element } from "./dom.js";

/**
 * @typedef {object} Poll
 * @property {string} question
 * @property {string[]} choices
 * @property {number[]} shares the truth: the share of each choice, from 0 to 1
 */

/**
 * @typedef {object} PollState
 * @property {number[] | null} counts how many answers each choice has; null while the question is open
 * @property {number} [chosen] the index of the reader's own answer
 * @property {(choice: number) => void} [choose] what a press on a choice does
 * @property {{ answers: string, truth: string }} texts the names of the bars
 */

const percent = (share) => `${Math.round(100 * share)} %`;

/** @type {(name: string, share: number, text: string) => HTMLElement} */
function barOf(name, share, text) {
  const bar = element("i", name);
  bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element("span", "track", [bar, element("b", "", text)]);
}

/** @type {(root: HTMLElement, poll: Poll, state: PollState) => void} */
export function drawPoll(root, { question, choices, shares }, { counts, chosen, choose, texts }) {
  const told = element("p", "asked", question);
  if (!counts) {
    const buttons = choices.map((name, i) =>
      button("choice", { textContent: name, ariaPressed: String(i === chosen) }, () => choose?.(i)));
    root.replaceChildren(told, element("div", "choices", choose ? buttons : []));
    return;
  }
  const all = counts.reduce((sum, count) => sum + count, 0);
  const rows = choices.flatMap((name, i) => [
    element("span", i === chosen ? "name own" : "name", name),
    barOf("answers", all ? (counts[i] ?? 0) / all : 0, String(counts[i] ?? 0)),
    barOf("truth", shares[i], percent(shares[i])),
  ]);
  const head = ["", texts.answers, texts.truth].map((text) => element("span", "head", text));
  root.replaceChildren(told, element("div", "bars", [...head, ...rows]));
}

/** @param {{ parentElement: { querySelector(selector: string): any }, data: { poll: Poll, state: PollState } }} part */
export default function ({ parentElement, data }) {
  drawPoll(parentElement.querySelector(".poll"), data.poll, data.state);
}
