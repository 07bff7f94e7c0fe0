// A row of buttons of which one is chosen.
import { setOnce } from "../dom.js";
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
    this.root.replaceChildren(...kinds.map((kind) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: names[kind] });
      button.onclick = () => this.choose(kind);
      return button;
    }));
  }

  mark(chosen) {
    this.kinds.forEach((kind, i) => setOnce(this.root.children[i], "aria-pressed", String(kind === chosen)));
  }
}
