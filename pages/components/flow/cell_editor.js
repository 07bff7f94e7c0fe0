// Shows a text input over a cell of an input matrix, in which the visitor types another number.
// The server applies the typed number, or refuses it and sends a sentence with the reason.
import { added, setOnce } from "../dom.js";
import { clamp } from "./motion.js";
import { placeOf } from "./twin.js";

const FIELD = { width: 64, height: 30 }; // px: the smallest size of the text input

export class CellEditor {
  constructor(root, flow) {
    this.root = root;
    this.flow = flow;
    this.cell = null; // the cell that is being edited, { step, index }
    this.field = added(root, "input", "");
    this.sentence = added(root, "div", "refusal");
    Object.assign(this.field, { autocomplete: "off", spellcheck: false, maxLength: 40, inputMode: "text" });
    this.sentence.setAttribute("role", "alert");
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("blur", () => this.cell && !this.sentence.textContent && this.send());
    root.hidden = true;
  }

  open(cell, text = this.textOf(cell)) {
    const { map, data } = this.flow;
    if (!data.hears || !map.find(cell)) return;
    this.cell = { step: cell.step, index: cell.index };
    this.sentence.textContent = "";
    this.field.value = this.begun = text;
    const place = cell.index.slice(-2).map((each) => each + 1);
    setOnce(this.field, "aria-label", `${data.steps[cell.step].label} [${place.join(", ")}]`);
    this.root.hidden = false;
    this.place();
    this.field.focus({ preventScroll: true });
    this.field.select();
  }

  close() {
    this.cell = null;
    this.root.hidden = true;
  }

  // Returns the current number of a cell as text for the text input.
  textOf({ step, index }) {
    const { shape, value } = this.flow.data.steps[step];
    return String(value[placeOf(shape, index)]);
  }

  key(event) {
    event.stopPropagation(); // stops keys here, because the text input handles all of them
    if (event.isComposing) return;
    if (event.key === "Enter") this.leave(() => this.send());
    else if (event.key === "Escape") this.leave(() => this.cancel());
  }

  // Calls a function that closes the text input, then focuses the cell that the input covered.
  leave(act) {
    const place = this.flow.map.find(this.cell);
    act();
    if (place) this.flow.hands.mapKeys.focus(place);
  }

  send() {
    const { cell, field, begun } = this;
    const wasRefused = this.sentence.textContent !== "";
    this.close();
    if (field.value !== begun || wasRefused) this.flow.tell("typed", { ...cell, text: field.value });
  }

  cancel() {
    const wasRefused = this.sentence.textContent !== "";
    this.close();
    if (wasRefused) this.flow.tell("typed", null);
  }

  // Opens the text input again, with the refused text and the reason.
  // refused: { step, index, text, sentence } of the refused text, or null if nothing was refused.
  refuse(refused) {
    const said = JSON.stringify(refused ?? null);
    if (said === this.said) return;
    this.said = said;
    if (!refused) return;
    this.open(refused, refused.text);
    this.sentence.textContent = refused.sentence;
  }

  place() {
    const { map, root } = this.flow;
    const place = this.cell && map.find(this.cell);
    if (!place) {
      this.close();
      return;
    }
    const box = map.boxOf(place);
    const [width, height] = [Math.max(FIELD.width, box.width), Math.max(FIELD.height, box.height)];
    const left = clamp(box.x + (box.width - width) / 2, 0, root.clientWidth - width);
    Object.assign(this.root.style, { left: `${left}px`, top: `${box.y + (box.height - height) / 2}px` });
    Object.assign(this.field.style, { width: `${width}px`, height: `${height}px` });
  }
}
