// Shows a small select box beside each unknown word, for the word's role in the sentence.
import { added, selectOf } from "../dom.js";
import { isAlike } from "./words.js";

export const CHOICE = { width: 20, height: 18 }; // px
const LEAST_ROW = 13; // px: in lower rows the select boxes would overlap, so they are hidden

export class RoleChoices {
  constructor(stage, flow) {
    this.flow = flow;
    this.root = added(stage, "div", "roles");
  }

  // Shows the select boxes. offer: { options: [[role, name]], label, words: { place: [word, role] } }; null: no boxes.
  // place: the index of the word among the keys.
  show(offer) {
    if (isAlike(offer, this.offer)) return;
    this.offer = offer;
    this.choices = Object.entries(offer?.words ?? {}).map(([place, [word, role]]) =>
      this.make(Number(place), word, role),
    );
    this.root.replaceChildren(...this.choices.map(({ select }) => select));
  }

  make(place, word, role) {
    const [, name] = this.offer.options.find(([value]) => value === role);
    const select = selectOf(this.offer.options, {
      value: role, title: `${word}: ${name}`, ariaLabel: `${this.offer.label} ${word}`,
      onchange: () => this.flow.tell("role", { word, role: select.value }),
      onkeydown: (event) => event.stopPropagation(), // keys in a select box must not control the picture
    });
    return { place, select };
  }

  // Places each select box in the row of its word; all are hidden unless the animated picture is visible.
  draw() {
    const { layout, model, look, opened } = this.flow;
    this.root.hidden = opened > 0 || look.view !== "flow" || !layout || this.flow.isHidden;
    if (this.root.hidden) return;
    const x = layout.frame.wordWidth - CHOICE.width; // at the right end of the column, so that words stay clickable
    for (const { place, select } of this.choices ?? []) {
      const row = model.rowOf(place);
      select.hidden = layout.rowHeight[row] < LEAST_ROW;
      Object.assign(select.style, { left: `${x}px`, top: `${layout.rowY[row] - CHOICE.height / 2}px` });
    }
  }
}
