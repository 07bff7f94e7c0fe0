// A small choice beside each word that is not known: what it counts as.
import { added } from "../dom.js";
import { isAlike } from "./words.js";

export const CHOICE = { width: 20, height: 18 }; // px
const LEAST_ROW = 13; // px: in a lower row one would lie over the next, and the word has no room either

export class RoleChoices {
  constructor(stage, flow) {
    this.flow = flow;
    this.root = added(stage, "div", "roles");
  }

  // offer: { options: [[role, name]], label, words: { place: [word, role] } } by the place of the word among the keys;
  // null where all words are known.
  show(offer) {
    if (isAlike(offer, this.offer)) return;
    this.offer = offer;
    this.choices = Object.entries(offer?.words ?? {}).map(([place, [word, role]]) =>
      this.make(Number(place), word, role),
    );
    this.root.replaceChildren(...this.choices.map(({ select }) => select));
  }

  make(place, word, role) {
    const select = document.createElement("select");
    for (const [value, name] of this.offer.options) select.append(new Option(name, value, false, value === role));
    const [, name] = this.offer.options.find(([value]) => value === role);
    select.title = `${word}: ${name}`;
    select.setAttribute("aria-label", `${this.offer.label} ${word}`);
    select.onchange = () => this.flow.tell("role", { word, role: select.value });
    select.onkeydown = (event) => event.stopPropagation(); // the keys are the choice's
    return { place, select };
  }

  // Each stands in the row of its word, as long as the flow is seen.
  draw() {
    const { layout, model, look, opened } = this.flow;
    this.root.hidden = opened > 0 || look.view !== "flow" || !layout || this.flow.isHidden;
    if (this.root.hidden) return;
    const x = layout.frame.wordWidth - CHOICE.width; // at the end of the words, where it leaves them free to be clicked
    for (const { place, select } of this.choices) {
      const row = model.rowOf(place);
      select.hidden = layout.rowHeight[row] < LEAST_ROW;
      Object.assign(select.style, { left: `${x}px`, top: `${layout.rowY[row] - CHOICE.height / 2}px` });
    }
  }
}
