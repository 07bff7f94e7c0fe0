// Shows a row of buttons, one of which is selected; the reason of a choice that is not available stands beside them.
import { button, setOnce } from "../dom.js";
import { isAlike } from "./words.js";

export class Choice {
  /**
   * @param {HTMLElement} root
   * @param {(kind: string) => void} choose
   */
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    /** @type {HTMLButtonElement[]} */
    this.buttons = [];
    root.setAttribute("role", "group");
  }

  /**
   * names: kind -> its name. missing: the choices that are not available, each with the reason.
   * @param {Record<string, string>} names
   * @param {string[]} kinds
   * @param {{ kind: string, name: string, why: string }[]} [missing]
   */
  show(names, kinds, missing = []) {
    if (isAlike({ names, kinds, missing }, this.shown)) return;
    this.shown = { names, kinds, missing };
    this.buttons = kinds.map((kind) => button("", { textContent: names[kind] }, () => this.choose(kind)));
    this.buttons.forEach((each, i) => (each.dataset.kind = kinds[i]));
    const refusing = missing.map(({ kind, name, why }) => {
      const made = button("missing", { textContent: name, title: why }, () => {});
      made.dataset.kind = kind;
      made.setAttribute("aria-disabled", "true");
      return made;
    });
    this.root.replaceChildren(...this.buttons, ...refusing);
  }

  mark(chosen) {
    this.buttons.forEach((each) => setOnce(each, "aria-pressed", String(each.dataset.kind === chosen)));
  }
}
