// Draws the lessons as cards: each with its picture, its question, and whether this browser has opened or solved it.
import { button, element, linkTo, setColours } from "./dom.js";
import { keepDrawers, keepProgress, readProgress } from "./kept_progress.js";
import { filled } from "./printed.js";
import { drawPicture } from "./small_picture.js";

/**
 * @typedef {object} Cards
 * @property {Card[]} cards
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/** @typedef {{ slug: string, title: string, question: string, address: string, shapes: any[][] }} Card a lesson */

/** @param {import("./shared.js").Component<Cards>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".cards");
  setColours(root, data.palette);
  const draw = () => {
    const progress = readProgress();
    const cards = data.cards.map((card) =>
      drawCard(card, progress.get(card.slug), data.text, () => setTriggerValue("opened", card.slug)),
    );
    root.replaceChildren(drawSummary(data.text, progress, draw), element("ol", "list", cards));
  };
  draw();
}

// Shows how many lessons were opened and solved, with a button that resets both counts; text.none if all are 0.
function drawSummary(text, progress, draw) {
  if (!progress.size) return element("p", "summary", text.none);
  const solved = [...progress.values()].filter((stage) => stage === "solved").length;
  const forget = button("forget", { textContent: text.forget }, () => {
    keepProgress(new Map());
    keepDrawers(new Set());
    draw();
  });
  return element("p", "summary", [filled(text.summary, { opened: progress.size, solved }), " ", forget]);
}

function drawCard({ title, question, address, shapes }, stage, text, open) {
  const said = element("span", "said", [element("strong", "", title), element("span", "question", question)]);
  const link = linkTo(address, open, [drawPicture(shapes), said]);
  if (stage) link.append(element("span", "stage", text[stage]));
  return element("li", `card ${stage ?? ""}`, [link]);
}
