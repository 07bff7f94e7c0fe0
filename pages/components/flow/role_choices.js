// Shows a select box beside each unknown word, for the word's role in the sentence.
import { added, selectOf } from "../dom.js";
import { isAlike, textWidth } from "./words.js";

const SMALL = { width: 20, height: 18 }; // px: size of a box without room for the name of the role
const NAMED = { font: 13, sides: 32, height: 22, gap: 6 }; // px: sizes of a box with the name of the role
const MOST_NAMED = 0.36; // share of the picture's width; if words and boxes needed more, the boxes are small
const LEAST_ROW = 13; // px: in lower rows the boxes would overlap, and are hidden

// Returns the width of a box that shows the name of its role.
const namedWidth = (name) => Math.ceil(textWidth(name, NAMED.font) + NAMED.sides);

/**
 * The width of the column of select boxes beside the words.
 * @param {{ options: string[][], words: Record<string, string[]> }} offer
 * @param {{ wordWidth: number, width: number, compact: boolean }} frame
 */
export function roleWidthOf({ options, words }, { wordWidth, width, compact }) {
  const names = new Map(/** @type {[string, string][]} */ (options));
  const widest = Math.max(...Object.values(words).map(([, role]) => namedWidth(names.get(role))));
  return (!compact && wordWidth + widest <= MOST_NAMED * width ? widest : SMALL.width) + NAMED.gap;
}

export class RoleChoices {
  constructor(stage, flow) {
    this.flow = flow;
    this.root = added(stage, "div", "roles");
  }

  // Shows the select boxes. offer: { options: [[role, name]], label, words: { place: [word, role] } }; null: no boxes.
  // place: the index of a word among the keys.
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
    return { place, select, width: namedWidth(name) };
  }

  // Places each select box in the row of its word, in a separate column beside the words.
  // Hides all select boxes unless the animated picture is visible.
  draw() {
    const { layout, model, look, opened } = this.flow;
    this.root.hidden = opened > 0 || look.view !== "flow" || !layout || this.flow.isHidden;
    if (this.root.hidden) return;
    const { wordWidth, roleWidth } = layout.frame;
    const isNamed = roleWidth > SMALL.width + NAMED.gap;
    this.root.classList.toggle("named", isNamed);
    for (const { place, select, width } of this.choices ?? []) {
      const row = model.rowOf(place);
      const height = isNamed ? Math.min(NAMED.height, layout.rowHeight[row] - 2) : SMALL.height;
      select.hidden = layout.rowHeight[row] < LEAST_ROW;
      Object.assign(select.style, {
        left: `${wordWidth + NAMED.gap / 2}px`, top: `${layout.rowY[row] - height / 2}px`, height: `${height}px`,
        width: `${isNamed ? width : SMALL.width}px`,
      });
    }
  }
}
