// Draws the handles of the plane view: query, keys, values, and the circle of the temperature.
// The handles can be dragged by mouse, touch and arrow keys.
import { arrowOf, followPointer, Rest } from "../drag.js";
import { filled } from "../printed.js";
import { tellOthers } from "../shared.js";
import { between, clamp } from "./motion.js";
import { inPlane, movedInPlane, roundGap, spellRound } from "./plane_axes.js";
import { PlaneVectors } from "./plane_vectors.js";
import { meaningOf } from "./shapes.js";
import { spellNumber } from "./words.js";

const RING_PX = { least: 26, most: 70 }; // px: radius of the circle at the lowest and at the highest temperature
const GRIP_PX = 20; // px: radius of the handle of a vector
const KEY_STEPS = 40; // number of presses of an arrow key that move a handle from the middle of a panel to its edge

export class PlaneHands {
  constructor(view) {
    this.view = view;
    // The dragged handle: { role, place } of a vector, or { role: "temperature" }.
    // The field `before` of the handle has the change of the run before the drag.
    this.held = null;
    this.rest = new Rest(() => this.release()); // a pause ends a drag by arrow keys
    const { svg, root } = view;
    svg.addEventListener("pointerdown", (event) => this.grab(event));
    svg.addEventListener("keydown", (event) => this.press(event));
    // Listens on an element inside the <svg>, because a browser adds an <svg> with a focus listener to the Tab order.
    root.addEventListener("focusin", ({ target }) => svg.contains(target) && this.choose(meaningOf(target)));
    root.addEventListener("focusout", () => this.held?.byKey && this.release());
    root.addEventListener("keydown", (event) => event.key === "Escape" && this.cancel());
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------
  draw() {
    const { view } = this;
    this.drawRing();
    for (const role of ["v", "k"]) {
      if (view.whyFixed(role)) continue;
      view.points(role).forEach((point, place) => this.drawGrip(role, place, view.toScreen(role, point)));
    }
    if (!view.whyFixed("q")) this.drawGrip("q", view.look.query, view.tip());
    this.drawKnob();
  }

  drawGrip(role, place, [cx, cy]) {
    const { view } = this;
    const isFixed = !this.canMove(role, place);
    const word = role === "q" ? view.flow.asking : view.model.keys[place];
    const numbers = view.vectors.vector(role, place).slice(0, 8).map(spellNumber).join(", ");
    const name = filled(view.text.handle, { role, word });
    const isHeld = this.held?.role === role && this.held.place === place;
    view.put(
      "handles", "circle", `${role} ${place}`,
      {
        cx, cy, r: GRIP_PX, class: `grip${isFixed ? " fixed" : ""}${isHeld ? " held" : ""}`, tabindex: 0,
        role: "slider", "aria-label": name, "aria-valuenow": 0,
        "aria-valuetext": `${numbers}. ${isFixed ? view.text.zero : view.flow.sentences.headline.textContent}`,
        "aria-disabled": String(isFixed), title: isFixed ? `${name}: ${view.text.zero}` : name,
      },
      { role, place },
    );
  }

  // Returns whether a vector can be dragged; not if a weight matrix computes it from an x of zeros.
  canMove(role, place) {
    const { roles } = this.view.data.plane;
    return roles[role].kind === "given" || this.view.proven.source(role, place) !== null;
  }

  // Draws the circle around the query; the larger its radius, the higher the temperature.
  drawRing() {
    const { view } = this;
    const [cx, cy] = view.tip();
    const r = this.radius();
    view.put("lines", "circle", "ring", { cx, cy, r, class: "ring" });
    view.put("handles", "circle", "ring hit", { cx, cy, r, class: "ringhit" }, { role: "temperature" });
  }

  drawKnob() {
    const { view } = this;
    const { least, most } = view.data.plane.temperature;
    const [cx, cy] = this.knob();
    const said = spellRound(Number(view.temperature.toPrecision(2)));
    view.put(
      "handles", "circle", "knob",
      {
        cx, cy, r: 9 * view.unit, class: "knob", tabindex: 0, role: "slider", "aria-label": view.text.temperature,
        "aria-valuemin": least, "aria-valuemax": most, "aria-valuenow": view.temperature, "aria-valuetext": said,
        title: view.text.temperature,
      },
      { role: "temperature" },
    );
    const { isLeft } = this.knobBoxes();
    view.put("texts", "text", "temperature", {
      x: cx + (isLeft ? -1 : 1) * 15 * view.unit, y: cy, "font-size": 15 * view.unit,
      class: `ringname${isLeft ? " end" : ""}`, text: `τ = ${said}`,
    });
  }

  // Returns the boxes of the temperature's handle and of its label, which is on the side with free space.
  knobBoxes() {
    const { view } = this;
    const [x, y] = this.knob();
    const [size, gap] = [62 * view.unit, 14 * view.unit];
    const isLeft = x + gap + size > view.boxes.k[0] + view.side;
    const name = {
      left: isLeft ? x - gap - size : x + gap, right: isLeft ? x - gap : x + gap + size, top: y - 8, bottom: y + 8,
    };
    return { isLeft, knob: view.box([x, y], 11 * view.unit), name };
  }

  radius() {
    const { temperature, data, unit } = this.view;
    const { least, most } = data.plane.temperature;
    const share = clamp(Math.log(temperature / least) / Math.log(most / least));
    return between(RING_PX.least, RING_PX.most, share) * Math.min(unit, 1.2);
  }

  // Returns the position of the temperature's handle on the circle.
  // The handle lies in a diagonal direction inside the panel, and keeps this direction during a drag.
  knob() {
    const { view } = this;
    const [[x, y], [left, top], r] = [view.tip(), view.boxes.k, this.radius()];
    /** @type {(way: number[]) => boolean} */
    const isInside = ([dx, dy]) => {
      const [atX, atY] = [x + r * dx, y + r * dy];
      return atX > left + 12 && atX < left + view.side - 12 && atY > top + 12 && atY < top + view.side - 12;
    };
    const spots = [[1, 1], [1, -1], [-1, 1], [-1, -1]].map((way) => way.map((each) => each * Math.SQRT1_2));
    if (this.held === null) this.spot = null;
    const spot = (this.spot ??= spots.find(isInside) ?? spots[0]);
    return [x + r * spot[0], y + r * spot[1]];
  }

  // ---- pointer ------------------------------------------------------------------------------------------------------
  grab(event) {
    const means = meaningOf(event.target);
    if (!means || event.button > 0) return;
    if (means.role === undefined) {
      this.choose(means);
      return;
    }
    const { view } = this;
    const place = this.chosenAt(means);
    if (means.role !== "temperature" && !this.canMove(means.role, place)) return;
    this.begin({ ...means, place });
    followPointer(view.svg, event, {
      move: (moved) => this.follow(moved),
      release: () => this.release(),
      cancel: () => this.cancel(),
    });
    event.target.focus({ preventScroll: true });
    event.preventDefault();
  }

  // Returns the index of the word to drag; if several words are at the same point, the selected one of them.
  chosenAt({ role, place }) {
    const { view } = this;
    if (role !== "k" && role !== "v") return place;
    const group = view.groups(role).find((places) => places.includes(place));
    return group.includes(view.chosen) ? view.chosen : place;
  }

  choose(means) {
    if (means?.place === undefined || means.role === "q" || this.held) return;
    this.view.chosen = means.place;
    this.view.flow.ask();
  }

  begin(what) {
    this.release();
    const { view } = this;
    this.held = {
      ...what, vectors: new PlaneVectors(view.model, view.look, view.model.steps, view.data.plane.roles),
      before: view.change, isMoved: false,
    };
  }

  follow(event) {
    if (!this.held || this.held.byKey) return;
    const box = this.view.svg.getBoundingClientRect();
    const at = [event.clientX - box.left, event.clientY - box.top];
    if (this.held.role === "temperature") {
      const [x, y] = this.view.tip();
      this.heat(this.temperatureAt(Math.hypot(at[0] - x, at[1] - y)));
    } else this.move(this.view.toPlane(this.panel(), at));
  }

  panel() {
    return this.held.role === "v" ? "v" : "k";
  }

  temperatureAt(r) {
    const { data, unit } = this.view;
    const { least, most } = data.plane.temperature;
    const share = clamp((r / Math.min(unit, 1.2) - RING_PX.least) / (RING_PX.most - RING_PX.least));
    return least * (most / least) ** share;
  }

  // ---- changes ------------------------------------------------------------------------------------------------------
  move(point) {
    const { view, held } = this;
    const { role, place, vectors } = held;
    held.vector = movedInPlane(vectors.vector(role, place), point, view.planes[this.panel()]);
    this.change({ ...held.before, values: { ...held.before.values, ...vectors.moved(role, place, held.vector) } });
  }

  heat(temperature) {
    const { least, most, step, parameter } = this.view.data.plane.temperature;
    this.held.temperature = clamp(Number(temperature.toPrecision(2)), least, most);
    const { before } = this.held;
    this.change({ ...before, params: { ...before.params, [step]: { [parameter]: this.held.temperature } } });
  }

  // Shows a dragged change of the run in the flow picture, and moves the slider of the temperature.
  change(change) {
    this.held.isMoved = true;
    this.view.change = change;
    tellOthers("flow-drag", change);
  }

  // Ends a drag, and sends the new vector or temperature to the server.
  release() {
    this.rest.drop();
    const { held, view } = this;
    this.held = null;
    if (!held?.isMoved) return;
    const { batch, head } = view.look;
    const { role, place, vector, temperature } = held;
    const said =
      role === "temperature" ? { handle: role, value: temperature } : { handle: role, batch, head, place, vector };
    view.flow.release();
    view.flow.tell("released", said);
    view.flow.ask();
  }

  cancel() {
    if (!this.held) return;
    this.view.change = this.held.before;
    this.held = null;
    tellOthers("flow-drag", this.view.change);
  }

  // ---- arrow keys ---------------------------------------------------------------------------------------------------
  press(event) {
    const means = meaningOf(event.target);
    if (means?.role === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const arrow = arrowOf(event);
    if (!arrow) return;
    const { view } = this;
    view.flow.drawNow(); // draws at once, because a second key press in the same frame needs the result of the first
    const isHeat = means.role === "temperature";
    if (!isHeat && !this.canMove(means.role, means.place)) return;
    const isSame = this.held?.role === means.role && this.held.place === means.place;
    if (!isSame) this.begin({ ...means, byKey: true });
    const times = event.shiftKey ? 5 : 1;
    if (isHeat) this.heat(view.temperature * 1.1 ** (times * (arrow[0] + arrow[1])));
    else {
      const step = times * roundGap(view.ranges[this.panel()] / KEY_STEPS);
      const [x, y] = inPlane(view.vectors.vector(means.role, means.place), view.planes[this.panel()]);
      this.move(
        [x + arrow[0] * step, y + arrow[1] * step].map((number) => Number(clamp(number, -1e6, 1e6).toFixed(6))),
      );
    }
    this.rest.begin();
  }
}
