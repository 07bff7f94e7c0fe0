// Handles keys on the flow picture: N focuses a number, and Enter opens the arithmetic that computes it.
// Each key of the attention has a row of numbers; the query's vectors have the role "lane" in the code.
// Arrow keys move the focus to the nearest number beside, above or below.
import { focused } from "../dom.js";
import { MOVES } from "../drag.js";
import { focusAsButton } from "./map_keys.js";
import { meaningOf } from "./shapes.js";
import { spellNumber, spellPercent } from "./words.js";

export class FlowKeys {
  constructor(flow, hands) {
    this.flow = flow;
    this.hands = hands;
    this.at = null; // the number focused last, { part, row, m }; null before the first focus and after Escape
    for (const name of ["focusin", "focusout"]) flow.stage.addEventListener(name, () => this.point());
  }

  // Handles a pressed key; returns whether the key has a meaning on the focused element.
  key({ key, target }) {
    const { flow } = this;
    const means = meaningOf(target);
    if (target === flow.stage && key.toLowerCase() === "n") this.begin();
    else if (means?.part === undefined) return false; // the focus is on the whole picture or in a cell's arithmetic
    else if (key in MOVES) this.focus(this.next(means, MOVES[key]));
    else if (key === "Enter" || key === " ") this.hands.press(means);
    else if (key === "Escape" && !flow.open) this.leave();
    else return false;
    return true;
  }

  // Focuses the number that first() returns; before that, draws a frame that an earlier key press may have requested.
  begin() {
    this.flow.drawNow();
    this.focus(this.first());
  }

  leave() {
    this.at = null;
    this.flow.stage.focus();
  }

  // Returns the focused number, { part, row, m: index within a vector }, or null if no number has the focus.
  get focused() {
    const means = meaningOf(focused(this.flow.root));
    return means?.part === undefined ? null : means;
  }

  // Highlights, in the open arithmetic, the operand whose number has the focus.
  point() {
    const { flow, focused } = this;
    if (flow.ringed().length) flow.sum.pointAt(focused && flow.placeOfCell(focused));
    flow.ask();
  }

  // ---- the numbers that are drawn -----------------------------------------------------------------------------------
  // Returns all drawn numbers, [{ shape, means, part, line, x, y }].
  // line: the row of the key to which a number belongs, or "lane" for a number of the query.
  cells() {
    const { model, picture } = this.flow;
    const cells = [];
    for (const [id, shape] of picture.shapes.made) {
      const { attributes, round, means } = shape;
      if (round !== picture.shapes.round || means?.part === undefined || id.startsWith("hits ")) continue;
      if (picture.isRest(means.row) && means.row > 0) continue;
      const part = model.parts.get(means.part);
      const [x, y] = [attributes.x + attributes.width / 2, attributes.y + attributes.height / 2];
      cells.push({ shape, means, part, x, y, line: part.role === "lane" ? "lane" : means.row });
    }
    return cells;
  }

  // Returns the drawn number at { step, index } of the run as an entry of cells(), or null if it is not drawn.
  find(cell) {
    const place = this.flow.model.findNumber(cell, this.flow.look);
    return (
      (place &&
        this.cells().find(
          ({ part, means }) => part === place.part && means.row === place.row && means.m === place.m,
        )) ??
      null
    );
  }

  // Returns the number to focus first: if a cell's arithmetic is open, the number of this cell.
  // Otherwise it is the number that the shown keyframe computes for the key with the largest attention weight.
  // At the end of the animation, this number is the largest attention weight itself.
  first() {
    const { flow } = this;
    const open = flow.open && this.find(flow.open);
    if (open) return open;
    const cells = this.cells();
    const { snapshot, journey } = flow;
    const best = flow.model.mostOf(snapshot.shares);
    const made = (journey.told.stop?.parts ?? [snapshot.share.name]).filter((name) =>
      cells.some(({ part }) => part.name === name),
    );
    const here = cells.filter(({ part }) => part.name === made.at(-1));
    return here.find(({ line }) => line === best) ?? here[0] ?? cells[0];
  }

  next(means, [down, right]) {
    const cells = this.cells();
    const here = cells.find((cell) => isSameNumber(cell.means, means));
    if (!here) return this.first();
    const found = right ? this.besides(cells, here, right) : this.below(cells, here, down);
    return found ?? here;
  }

  // Returns the next number to the right (1) or left (-1) in the same row.
  // Right of the last number of a key's row is the nearest number of the query's vectors ("lane").
  besides(cells, here, right) {
    const isOn = ({ x }) => (x - here.x) * right > 0.5;
    const near = (line) =>
      nearest(cells.filter((cell) => cell.line === line && isOn(cell)), ({ x }) => Math.abs(x - here.x));
    return near(here.line) ?? (right > 0 ? near("lane") : null);
  }

  // Returns the nearest number below (1) or above (-1) in an overlapping column, of a key's row or of the query.
  below(cells, here, down) {
    const { x, w } = this.flow.layout;
    const overlaps = (name, other) => x[name] < x[other] + w[other] && x[other] < x[name] + w[name];
    const isOn = (cell) => (cell.y - here.y) * down > 0.5 && overlaps(cell.part.name, here.part.name);
    return nearest(cells.filter(isOn), (cell) => 1000 * Math.abs(cell.y - here.y) + Math.abs(cell.x - here.x));
  }

  // Focuses a number; its label for screen readers names the number and the effect of Enter.
  focus(cell) {
    const { data } = this.flow;
    this.at = cell.means;
    const does = data.hears ? ` ${data.text.enter_opens}` : "";
    const label = `${this.nameOf(cell)}: ${this.numberOf(cell)}.${does}`;
    focusAsButton(this.flow.picture.shapes.elementOf(cell.shape), label);
  }

  nameOf({ part, means }) {
    const { data, model, asking } = this.flow;
    const { dims, shape, label } = data.steps[part.name];
    const asks = part.role === "row" ? "" : asking;
    const key = part.role === "lane" ? "" : model.keys[means.row];
    const place = part.role === "pair" ? "" : model.names(dims.at(-1), shape.at(-1))[means.m];
    return [label, asks, key, place].filter(Boolean).join(", ");
  }

  numberOf({ part, means }) {
    const { numbers, shares } = this.flow.snapshot;
    if (part.is_share) return spellPercent(shares[means.row]);
    const all = numbers[part.name];
    const width = all.length / (part.role === "lane" ? 1 : shares.length);
    const number = all[means.row * width + means.m];
    return number === -Infinity ? "−∞" : spellNumber(number);
  }
}

const isSameNumber = (one, other) => one.part === other.part && one.row === other.row && one.m === other.m;

function nearest(cells, distance) {
  let found = null;
  for (const cell of cells) if (!found || distance(cell) < distance(found)) found = cell;
  return found;
}
