// Handles keys on the map view: arrow keys move from cell to cell, also across the edge of a matrix to the next one.
import { setAttributes } from "../dom.js";
import { MOVES } from "../drag.js";
import { clamp } from "./motion.js";
import { meaningOf } from "./shapes.js";
import { spellNumber, spellPercent } from "./words.js";

/** Focuses a shape as a button with a label for screen readers. @type {(shape: SVGElement, label: string) => void} */
export function focusAsButton(shape, label) {
  setAttributes(shape, { tabindex: -1, role: "button", "aria-label": label });
  shape.focus({ preventScroll: true });
}

export class MapKeys {
  constructor(flow, hands) {
    this.flow = flow;
    this.hands = hands;
  }

  // Handles a pressed key; returns whether the key has a meaning on the focused element.
  key({ key, target }) {
    const { flow } = this;
    const cell = meaningOf(target)?.cell;
    if (cell === undefined && target !== flow.stage) return false; // the focus is in a text input or the opened sum
    if (key in MOVES) this.focus(cell ? this.next(flow.map.find(cell), MOVES[key]) : this.first());
    else if (key === "Enter" && cell) this.hands.press(meaningOf(target));
    else if (key === "Escape" && !flow.open) this.leave(cell);
    else return false;
    return true;
  }

  leave(cell) {
    if (cell) this.flow.stage.focus();
    else this.flow.lookAt({ view: "flow" });
  }

  // Returns the cell to focus first: the one whose arithmetic is open, else the first cell of the selected row.
  first() {
    const { map, open, look } = this.flow;
    const found = open && map.find(open);
    if (found) return found;
    const { matrix } = map.block("result");
    return { key: "result", row: matrix.rowAxis === "T" ? look.query : 0, column: 0 };
  }

  next({ key, row, column }, [down, right]) {
    const { map } = this.flow;
    const to = { key, row: row + down, column: column + right };
    const { matrix } = map.block(key);
    const [left, above] = [map.block("left"), map.block("above")];
    if (key === "result" && to.column < 0 && left) return { key: "left", row, column: left.matrix.columns - 1 };
    if (key === "result" && to.row < 0 && above) return { key: "above", row: above.matrix.rows - 1, column };
    if (key === "left" && to.column >= matrix.columns) return { key: "result", row, column: 0 };
    if (key === "above" && to.row >= matrix.rows) return { key: "result", row: 0, column };
    return { key, row: clamp(to.row, 0, matrix.rows - 1), column: clamp(to.column, 0, matrix.columns - 1) };
  }

  // Focuses a cell; its label for screen readers names the number and the effect of Enter.
  focus(place) {
    const { data, map } = this.flow;
    const { matrix } = map.block(place.key);
    const { row, column } = place;
    const number = (matrix.kind === "share" ? spellPercent : spellNumber)(matrix.row(row)[column]);
    const names = [data.steps[matrix.step].label, matrix.rowNames[row], matrix.columnNames[column]].filter(Boolean);
    const does = data.typed.includes(matrix.step) ? data.text.enter_types : data.text.enter_opens;
    focusAsButton(map.elementOf(place), `${names.join(", ")}: ${number}. ${does}`);
  }
}
