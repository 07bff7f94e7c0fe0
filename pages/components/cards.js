// The lessons as cards: the picture and question of each, and whether it was opened or solved in this browser.
import { element, setColours } from "./dom.js";
import { keepDrawers, keepProgress, readProgress } from "./kept_progress.js";
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
    const list = element("ol", "list");
    list.append(
      ...data.cards.map((card) =>
        drawCard(card, progress.get(card.slug), data.text, (slug) => setTriggerValue("opened", slug)),
      ),
    );
    root.replaceChildren(drawSummary(data.text, progress, draw), list);
  };
  draw();
}

// A paragraph with the numbers of opened and solved lessons and a button that resets them; text.none if there are none.
function drawSummary(text, progress, draw) {
  const summary = element("p", "summary");
  if (!progress.size) {
    summary.textContent = text.none;
    return summary;
  }
  const solved = [...progress.values()].filter((stage) => stage === "solved").length;
  const forget = element("button", "forget", { type: "button", textContent: text.forget });
  forget.onclick = () => {
    keepProgress(new Map());
    keepDrawers(new Set());
    draw();
  };
  summary.append(text.summary.replace("{opened}", progress.size).replace("{solved}", solved), " ", forget);
  return summary;
}

function drawCard({ slug, title, question, address, shapes }, stage, text, open) {
  const card = element("li", `card ${stage ?? ""}`);
  const link = element("a", "", { href: address });
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // the browser opens another window
    event.preventDefault();
    open(slug);
  };
  const said = element("span", "said");
  said.append(element("strong", "", title), element("span", "question", question));
  link.append(drawPicture(shapes), said);
  if (stage) link.append(element("span", "stage", text[stage]));
  card.append(link);
  return card;
}
