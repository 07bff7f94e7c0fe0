// Draws the words of a Chinese sentence, each in a frame. Arrow keys move from button to button.
// A button between two characters splits the word there; a button between two words joins them.
import { button, element, setColours } from "./dom.js";
import { said } from "./flow/words.js";
import { roving } from "./roving.js";

/** @typedef {{ words: string[], palette: Record<string, string>, text: Record<string, string> }} Gaps */

/** @param {import("./shared.js").Component<Gaps>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".word-gaps");
  setColours(root, data.palette);
  root.setAttribute("aria-label", data.text.label);
  roving(root, () =>
    root.replaceChildren(...drawWords(data, (at) => setTriggerValue("gap", { at, words: data.words }))),
  );
}

function drawWords({ words, text }, toggle) {
  let at = 0;
  return words.map((word, place) => {
    const frame = element("span", "word");
    const characters = isChinese(word) ? [...word] : [word];
    characters.forEach((character, i) => {
      frame.append(element("span", "character", character));
      at += [...character].length;
      if (i + 1 < characters.length)
        frame.append(
          drawGap(
            "inside",
            said(text.part, { left: characters.slice(0, i + 1).join(""), right: characters.slice(i + 1).join("") }), at,
            toggle,
          ),
        );
    });
    const next = words[place + 1];
    const both = element("span", "both"); // one element, so that no line break separates a word and the button after it
    both.append(frame);
    if (next !== undefined)
      both.append(
        isChinese(word) && isChinese(next)
          ? drawGap("between", said(text.join, { left: word, right: next }), at, toggle)
          : element("span", "between"),
      );
    return both;
  });
}

const isChinese = (word) => /\p{Script=Han}/u.test(word);

function drawGap(kind, label, at, toggle) {
  const gap = button(`gap ${kind}`, { title: label, ariaLabel: label }, () => toggle(at));
  return gap;
}
