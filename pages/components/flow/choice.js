// Shows a row of buttons, one of which is selected.
import { button, setOnce } from "../dom.js";
import { isAlike } from "./words.js";

export class Choice {
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    root.setAttribute("role", "group");
  }

  show(names, kinds) {
    if (isAlike({ names, kinds }, this.shown)) return;
    this.shown = { names, kinds };
    this.kinds = kinds;
    const buttons = kinds.map((kind) => button("", { textContent: names[kind] }, () => this.choose(kind)));
    buttons.forEach((each, i) => (each.dataset.kind = kinds[i]));
    this.root.replaceChildren(...buttons);
  }

  mark(chosen) {
    this.kinds.forEach((kind, i) => setOnce(this.root.children[i], "aria-pressed", String(kind === chosen)));
  }
}
