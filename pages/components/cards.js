// Draws the lessons as cards, each with a picture, a question, and whether this browser has opened or solved it.
import { button, element, linkTo, setColours, stateOf } from "./dom.js";
import { keepDrawers, keepProgress, readProgress } from "./kept_progress.js";
import { filled } from "./printed.js";
import { drawPicture } from "./small_picture.js";

/**
 * @typedef {object} Cards
 * @property {Card[]} path the lessons of the beginner's path
 * @property {Card[]} advanced the other lessons, which are folded
 * @property {string} here the slug of the lesson that this page is
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/** @typedef {{ slug: string, title: string, question: string, address: string, shapes: any[][] }} Card a lesson */

/** @param {import("./shared.js").Component<Cards>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".cards");
  setColours(root, data.palette);
  const state = stateOf(root, () => ({ isUnfolded: false }));
  const open = (slug) => {
    if (slug === data.here) document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 });
    else setTriggerValue("opened", slug);
  };
  const draw = () => {
    const progress = readProgress();
    const list = (cards) => element("ol", "list", cards.map((card) => drawCard(card, data, progress, open)));
    const ontoggle = (event) => (state.isUnfolded = event.target.open);
    const advanced = element("details", "", { open: state.isUnfolded, ontoggle }, [
      element("summary", "", data.text.advanced), list(data.advanced),
    ]);
    const title = element("h4", "", data.text.path);
    root.replaceChildren(title, drawSummary(data.text, progress, draw), list(data.path), advanced);
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

/** @type {(card: Card, data: Cards, progress: Map<string, string>, open: (slug: string) => void) => HTMLLIElement} */
function drawCard({ slug, title, question, address, shapes }, { here, text }, progress, open) {
  const said = element("span", "said", [element("strong", "", title), element("span", "question", question)]);
  const link = linkTo(address, () => open(slug), [drawPicture(shapes), said]);
  const stage = progress.get(slug);
  if (stage) link.append(element("span", "stage", text[stage]));
  if (slug === here) {
    link.append(element("span", "here", text.here));
    link.ariaCurrent = "page";
  }
  return element("li", `card ${stage ?? ""}`, [link]);
}
