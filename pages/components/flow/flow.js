// The animated picture of how attention computes one query's output; the browser draws and plays it.
import { added, addedShape, button, setAttributes, setColours } from "../dom.js";
import { floatsOf, unpacked } from "../pixels.js";
import { hear, shared, tellOthers } from "../shared.js";
import { Arrangement, OPEN_HEIGHT } from "./arrangement.js";
import { StopsBar } from "./bar.js";
import { CellEditor } from "./cell_editor.js";
import { BEFORE_MS, fading, findChanges, GLOW_MS, isSameSight } from "./changes.js";
import { Choice } from "./choice.js";
import { Exchange } from "./exchange.js";
import { Flights } from "./flights.js";
import { Formulas } from "./formulas.js";
import { Hands } from "./hands.js";
import { HeadsView } from "./heads.js";
import { Journey } from "./journey.js";
import { blendLayouts } from "./layout.js";
import { MapView, WAITING } from "./map.js";
import { Model } from "./model.js";
import { blendArrays, clamp, easeInOut, isCalm } from "./motion.js";
import { heightBelow } from "./page_room.js";
import { Picture } from "./picture/picture.js";
import { PlaneView } from "./plane.js";
import { RoleChoices } from "./role_choices.js";
import { Sentences } from "./sentences.js";
import { SmallMaps } from "./small_maps.js";
import { SumPanel } from "./sum.js";
import { follow } from "./twin.js";
import { findTwinDifference, isProven, movedInputs, ShownRows } from "./twin_check.js";
import { mapView, MOST_DESCRIBED_HEADS, pictureView, smallHeads, smallSteps, sumView } from "./views.js";
import { isAlike, widths } from "./words.js";

const PAGE = '[data-testid="stMainBlockContainer"]';
const CHANGE_MS = 420; // ms: duration of the animation of numbers and positions from one state to the next
const FLOW_GOES = 2; // how many times faster the flow picture fades out than the map opens
const OPENS_MS = 750; // ms: duration of the animation from the flow picture to the map
const RAIL_SIZES = [2, 4, 8, Infinity]; // numbers of heads up to which flow.css makes the small maps one size smaller
const LEAST_WIDE = 900; // px: in a picture of at least this width, the small maps of the heads are at its side
const LONGEST_FRAME_MS = 34; // ms: after a longer frame, the animation advances only by this time

/** @param {import("../shared.js").Component<Uint8Array>} component data: of pages/panels/flow_data.py, packed */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".flow");
  const flow = (root.flow ??= new Flow(root));
  flow.show(withNumbers(unpacked(data)));
}

// Adds to each step of the data its numbers, as `value`, and returns the data.
export function withNumbers(data) {
  const numbers = new Float64Array(data.numbers.slice().buffer);
  for (const step of Object.values(data.steps)) {
    const count = step.shape.reduce((one, other) => one * other, 1);
    step.value = numbers.subarray(step.first, step.first + count);
  }
  for (const [name, read] of Object.entries({ read: data.read, ...data.sides }))
    if (read) Object.assign(read, { numbers: floatsOf(data[`${name}_numbers`]), hidden: data[`${name}_hidden`] });
  return data;
}

/** @typedef {import("./model.js").Snapshot} Snapshot */
/** @typedef {import("./layout.js").Layout} Layout */

export class Flow {
  constructor(root) {
    this.root = root;
    this.journey = new Journey(() => this.ask(), () => this.exchange.tellStop());
    this.exchange = new Exchange(this);
    this.arrangement = new Arrangement();
    // Creates the elements of the component, from top to bottom.
    const top = (this.top = added(this.root, "div", "top"));
    const headline = added(top, "p", "headline");
    this.beside = top.appendChild(button("beside", { hidden: true }, () => this.compare()));
    this.views = new Choice(added(top, "div", "views"), (view) => this.lookAt({ view }));
    const below = added(top, "div", "below");
    const motive = added(below, "p", "motive");
    this.missing = added(below, "p", "missing"); // why a view is not available
    this.rail = new SmallMaps(added(this.root, "div", "rail"), (head) => this.chooseHead(head));
    this.stage = added(this.root, "div", "stage");
    this.svg = addedShape(this.stage, "svg");
    this.sum = new SumPanel(added(this.stage, "div", "panel"), {
      open: (cell) => this.tell("followed", cell),
      close: () => this.hands.fold(),
      point: () => this.ask(),
    });
    this.formulas = new Formulas(added(this.stage, "div", "formulas"));
    this.roles = new RoleChoices(this.stage, this);
    this.editor = new CellEditor(added(this.stage, "div", "editor"), this);
    this.caption = added(this.root, "p", "caption");
    this.sentences = new Sentences(this, headline, motive, this.caption, added(this.root, "p", "heard"));
    this.bar = new StopsBar(added(this.root, "div", "bar"), this.journey);
    this.strip = new SmallMaps(added(this.root, "div", "strip"), (step) => this.lookAt({ step }));
    this.plane = new PlaneView(added(this.root, "div", "plane"), this);
    this.heads = new HeadsView(added(this.root, "div", "headsview"), this);
    this.flowGroup = addedShape(this.svg, "g");
    this.picture = new Picture(this.flowGroup);
    this.map = new MapView(this.svg);
    this.flights = new Flights(this);
    this.open = null; // the cell whose arithmetic is open: { step, index, height }; null for none
    this.opened = 0; // share of the map's opening that is finished, from 0 to 1
    this.change = null; // a dragged change that the server has not applied yet: { params, values }; null for none
    this.moved = []; // names of the steps that the browser has recomputed
    this.waiting = new Set(); // names of the steps that the browser cannot recompute
    this.partial = new Set(); // names of the steps of which the browser has recomputed only the selected query's row
    this.shown = new ShownRows();
    this.differs = null; // name of a step in which server and browser computed different numbers; null for none
    this.frame = null;
    this.isPainted = false;
    this.hands = new Hands(this);
    this.sizes = new ResizeObserver(() => this.resized());
    this.listen();
  }

  listen() {
    this.ends = [
      hear("flow-look", (look) => this.exchange.obey(look)),
      hear("flow-drag", (change) => this.drag(change)),
      hear("flow-release", () => this.release()),
      hear("flow-step", (way, event) => this.stepFromAfar(way, event)),
    ];
    const toPaper = () => this.finish();
    window.addEventListener("beforeprint", toPaper, true); // before printing.js, which changes what is drawn
    this.ends.push(() => window.removeEventListener("beforeprint", toPaper, true));
    this.sizes.observe(this.root);
    const page = document.querySelector(PAGE);
    if (page) this.sizes.observe(page); // content above the picture may change its height
    document.fonts.ready.then(() => {
      widths.clear();
      this.measured = null; // the layout is computed again, because texts have other widths
      this.resized();
    });
  }

  // Shows on paper what the running animation leads to, not a moment of it.
  finish() {
    if (!this.journey.isMoving) return;
    this.journey.finish();
    this.drawNow();
  }

  // Removes all listeners when the picture is no longer on the page.
  leave() {
    document.body.removeAttribute("data-dragged");
    this.ends?.forEach((end) => end());
  }

  // ---- data ---------------------------------------------------------------------------------------------------------
  show(data) {
    if (data.digest === this.data?.digest && (data.hears || isSameLook(data.look, this.data.look))) {
      if (this.isDragged && !this.isHeld()) this.plane.refuse();
      return;
    }
    const [before, old] = [this.snapshot, this.data];
    const moved = this.isDragged ? this.moved : [];
    const isToBegin = !data.hears && (!before || this.isToldToLook(data));
    this.data = data;
    /** @type {Model} */
    this.model = new Model(data);
    setColours(this.root, { ...data.palette, ...data.given.colours });
    const stays = this.look && !data.cut && (data.hears || isSameLook(old.look, data.look));
    this.look = stays ? this.exchange.withinReach(this.look) : this.exchange.lookOf(data.look);
    this.differs =
      findTwinDifference(data.steps, moved, this.look.query, data.rounding) ??
      this.shown.compare(old, data, this.model);
    // whether the picture waits for the server: these data then answer an earlier change
    const isStill = this.isHeld() || this.shown.waits;
    if (!isStill || !movedInputs(old?.steps ?? {}, data.steps)) this.change = null;
    this.fit(data);
    this.roles.show(data.roles);
    this.views.show(data.text.views, Object.keys(data.text.views), data.text.missing_views);
    this.missing.textContent = data.text.missing_views.map(({ why }) => why).join(" ");
    Object.assign(this.beside, { textContent: data.text.compare, title: data.text.compare_help });
    this.rail.root.hidden = data.heads < 2;
    this.rail.root.classList.toggle("layers", Boolean(data.layers.now));
    this.rail.root.classList.toggle("many", !data.layers.now && data.heads > MOST_DESCRIBED_HEADS);
    this.rail.show(smallHeads(this), data.palette);
    this.rail.root.dataset.size = data.layers.now ? "layers" : RAIL_SIZES.find((most) => data.heads <= most);
    this.measured = null; // the small maps and the line above them may have other sizes now
    this.bar.show(data.text);
    this.strip.root.setAttribute("aria-label", data.text.steps);
    this.stripShows = null;
    this.journey.known = new Set(data.known);
    this.take();
    // undo and redo are no new changes, so they outline no rows
    const glows = before && !data.cut && !data.is_moved && isSameSight(old, data);
    this.glow = glows ? findChanges(before, this.snapshot, this.model) : null;
    if (isToBegin && !(data.plays && isCalm())) this.journey.begin(data);
    if (data.hears && shared.look) this.exchange.obey(shared.look);
    else if (data.hears) this.exchange.expect(data.look);
  }

  // Returns whether the server has sent a newer selection to a picture that cannot send selections itself.
  isToldToLook({ hears, look }) {
    return !hears && look.order > this.data?.look.order;
  }

  // Sets the CSS classes for the kind of page: only the picture, a playing picture, or a presentation.
  fit(data) {
    for (const name of ["shown", "plays", "fills", "speaks"]) this.root.classList.toggle(name, data[name]);
    this.stage.tabIndex = data.fills ? -1 : 0; // -1 in a presentation, in which the page handles the keys
    this.stage.role = data.fills ? "img" : "group";
    this.bar.gives = data.fills;
    // the height of a presentation's stage changes with the number of lines of the caption
    if (data.fills) this.sizes.observe(this.stage);
  }

  // Moves by one keyframe when a presentation sends a key; after the last keyframe, the presentation changes the scene.
  stepFromAfar(way, event) {
    const isHere = this.data?.fills && this.root.isConnected && this.look.view !== "map";
    if (isHere && this.journey.stepBy(way)) event.preventDefault();
  }

  // Returns the name of the step with the attention weights.
  get share() {
    return this.data.parts.find((part) => part.is_share).name;
  }

  get asking() {
    return this.data.words.T[this.look.query];
  }

  get progress() {
    return this.journey.progress;
  }

  // Makes a snapshot of the run and the selection, to which the picture is then animated.
  // A dragged change that the server has not applied yet stays in the snapshot.
  take() {
    const { snapshot: before, layout } = this;
    const moves = before && layout && !isCalm();
    /** @type {(Pick<Snapshot, "numbers" | "shares"> & { layout: Layout, begun: number }) | null} */
    this.before = moves ? { numbers: before.numbers, shares: before.shares, layout, begun: performance.now() } : null;
    this.follow();
    this.takeSnapshot(this.model.snapshot(this.look));
    this.followMaps();
  }

  // ---- dragging -----------------------------------------------------------------------------------------------------
  // Returns whether there is a dragged change that the server has not answered yet.
  get isDragged() {
    return this.change !== null;
  }

  // Returns whether the visitor still holds a slider or a handle.
  isHeld() {
    return Boolean(shared.heldSlider || this.plane.hands?.held);
  }

  // Shows the effect of a drag in the same frame.
  // change: { params, values } to compute with; { waits } if only the server can compute; null for no change.
  drag(change) {
    if (!this.data) return;
    // shows the end of the animation, where the effect is visible
    if (!this.data.hears && !this.data.cut) this.journey.scrub(Infinity);
    this.change = change && (change.waits || !isProven(this.data.steps, change)) ? change : null;
    this.glow = this.differs = null;
    this.take();
    this.before = null;
  }

  // Handles the end of a drag: keeps the shown numbers until the server has computed the same run.
  release() {
    if (this.isDragged && !this.waitsForServer) this.shown.keep(this);
  }

  get waitsForServer() {
    return Boolean(this.data.cut || this.change?.waits);
  }

  // Sets the numbers to show: those of the run or, during a drag, those that the browser recomputes.
  // During a drag, a large run keeps its numbers until the server answers.
  follow() {
    const { data, change, model } = this;
    model.steps = data.steps;
    this.waiting = new Set(change && this.waitsForServer ? Object.keys(data.steps) : []);
    this.partial = new Set();
    if (change && !this.waitsForServer) this.followChange();
    const [waited, waits] = [this.root.classList.contains("waits"), this.waiting.has(this.share)];
    this.root.classList.toggle("waits", waits);
    if (waits !== waited) tellOthers("flow-waits", waits);
    // during a drag, page.css fades parts that do not follow it
    document.body.toggleAttribute("data-dragged", this.isDragged);
    this.root.classList.toggle("dragged", this.isDragged && model.steps[this.share] !== data.steps[this.share]);
  }

  // During a drag, recomputes the changed numbers in the browser (twin.js), but only in the rows that are needed.
  // In each head, only the row of the selected query is needed.
  // In the selected head, every row is needed if more rows are visible or the run has several heads.
  // If such a visible step combines several heads, every row of all heads is computed.
  followChange() {
    const { data, change, look } = this;
    const seen = this.stepsSeen();
    const isAllSeen = seen.length > 0 || data.heads > 1 || look.view === "heads";
    const inHead = follow(data.steps, change, { query: look.query, head: isAllSeen ? look.head : undefined });
    const isPart = seen.some((name) => inHead.partial.has(name)); // whether a visible step depends on all heads
    const { steps, waiting, partial } = isPart ? follow(data.steps, change) : inHead;
    this.model.steps = steps;
    this.waiting = waiting;
    this.partial = partial;
    this.moved = Object.keys(steps).filter((name) => steps[name] !== data.steps[name]);
  }

  // Returns the names of the steps of which more than the selected query's row is visible.
  stepsSeen() {
    const { data, look, open } = this;
    const { product } = data.steps[look.step];
    const onMap = look.view === "map" ? [look.step, product?.left.step, product?.above.step] : [];
    const inSum = open ? [open.step, ...this.sum.operands.map(({ step }) => step)] : [];
    return [...onMap, ...inSum].filter(Boolean);
  }

  // Updates the small maps and the arithmetic of an open cell to the numbers of the picture.
  followMaps() {
    if (!this.rail.root.hidden) this.rail.paint(smallHeads(this), this.data.palette);
    if (this.open && !this.data.cut) this.sum.follow(sumView(this));
  }

  takeSnapshot(snapshot) {
    /** @type {Snapshot} */
    this.snapshot = snapshot;
    this.journey.take(snapshot.stops);
    this.isArranged = false; // the next frame computes the layout again
    this.ask();
  }

  resized() {
    const old = this.measured;
    this.measured = this.measure();
    if (!this.snapshot || !this.measured.width || isAlike(old, this.measured)) return;
    this.before = null;
    this.arrange();
    this.ask();
  }

  // The measures of the picture, read once per size, because every reading makes the browser compute the layout.
  get measures() {
    if (!this.measured?.width) this.measured = this.measure();
    return this.measured;
  }

  get width() {
    return this.measures.width;
  }

  // The height in px of the window below everything that stands above the picture.
  get heightBelow() {
    return this.measures.below;
  }

  // Returns the width of the picture, its height on a stage, and the height of the window below its top, all in px.
  // On a wide page, the small maps of the heads are beside it.
  measure() {
    const isWide = Boolean(this.data?.hears) && this.root.clientWidth >= LEAST_WIDE;
    this.root.classList.toggle("wide", isWide);
    const isBelowMaps = !isWide && this.rail.root.offsetHeight > 0;
    return {
      width: this.stage.clientWidth || this.root.clientWidth,
      height: this.data?.fills ? this.stage.clientHeight : 0,
      below: Math.round(heightBelow(isBelowMaps ? this.rail.root : this.top)),
    };
  }

  // Returns whether the flow picture is invisible: covered by the open map or, during a drag, by another view.
  get isHidden() {
    if (!this.isDragged || !this.layout) return false;
    return ["plane", "heads"].includes(this.look.view) || (this.look.view === "map" && this.opened === 1);
  }

  arrange() {
    const { width, height } = this.arrangement.arrange(this);
    setAttributes(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    // flow.css limits the small maps to this height
    this.root.style.setProperty("--picture", `${Math.round(height)}px`);
    this.isArranged = true;
  }

  // Returns the selected head's key among the small maps: "layer.head" in a language model, else its number.
  get headKey() {
    const { now } = this.data.layers;
    return now ? `${now}.${this.look.head}` : this.look.head;
  }

  // Selects a head; if it belongs to another layer, sends a request to the server.
  chooseHead(key) {
    const [layer, head] = String(key).includes(".") ? key.split(".").map(Number) : [this.data.layers.now, key];
    if (layer === this.data.layers.now) {
      this.lookAt({ head: Number(head) });
      return;
    }
    this.tell("looked", { query: this.look.query, head, layer, stop: this.exchange.stop(this.look.view) });
  }

  // ---- selection ----------------------------------------------------------------------------------------------------
  lookAt(changes) {
    if (this.data.cut) {
      const { view = this.look.view } = changes;
      this.look = { ...this.look, view: view === "heads" ? view : "flow" }; // the map is below the picture
      this.ask();
      this.exchange.askFor(changes);
      return;
    }
    this.look = { ...this.look, ...changes };
    this.fold();
    this.editor.close();
    this.glow = this.differs = null;
    this.take();
    this.exchange.tellLook();
  }

  // Shows two runs side by side in the view of all heads: the pinned run A, or else the run before the last change.
  compare() {
    if (this.data.reads.side) this.lookAt({ view: "heads" });
    else this.tell("compared", true);
  }

  tell(name, value) {
    this.exchange.tell(name, value);
  }

  // Opens the arithmetic of a cell in a gap below the cell's row; null closes the open arithmetic.
  unfold(means) {
    if (!this.data.hears) return; // no server would send the arithmetic
    this.fold();
    this.open = means && this.placeOfCell(means);
    this.take();
    if (this.open && this.look.view === "map") this.look = { ...this.look, step: this.open.step };
    if (this.open) this.tell("opened", { step: this.open.step, index: this.open.index });
    else this.exchange.tellLooked();
  }

  placeOfCell({ part: name, row, m, cell }) {
    if (cell) return { step: cell.step, index: cell.index };
    return { step: name, index: this.model.indexOf(this.model.part(name), this.look, row, m) };
  }

  fold() {
    this.open = null;
    this.sum.lie(false);
    this.sum.root.hidden = true;
  }

  // Returns the operands of the open arithmetic, around which the picture draws rings; [] if none is open.
  ringed() {
    return this.open && !this.sum.root.hidden ? this.sum.operands : [];
  }

  // Shows the arithmetic ("sum") that the server has sent for the opened cell.
  // If the picture does not draw the opened cell, the arithmetic opens below the query's vectors ("lane").
  fillSum({ step, cell, sum }) {
    this.open = { step, index: cell };
    this.sum.show(sum);
    this.sum.root.hidden = false;
    this.sum.lie(Boolean(this.layout?.frame.compact));
    const wordWidth = this.layout?.frame.wordWidth ?? 120;
    this.open.height = this.sum.heightAt(this.width - wordWidth - 8);
  }

  // ---- frames -------------------------------------------------------------------------------------------------------
  ask() {
    this.frame ??= requestAnimationFrame((now) => {
      this.frame = null;
      this.drawAt(now);
    });
  }

  // Draws a requested frame at once, for a caller that needs the drawn positions now.
  drawNow() {
    if (this.frame === null) return;
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.drawAt(document.timeline.currentTime);
  }

  drawAt(now) {
    if (!this.root.isConnected) {
      this.leave();
      return;
    }
    this.journey.advance(now);
    this.moveToView(now);
    if (!this.isArranged && !this.isHidden) this.arrange();
    const [snapshot, layout] = this.blend(now);
    /** @type {Layout} */
    this.layout = layout;
    this.drawViews(snapshot, layout, now);
    if (this.open)
      this.sum.place(
        this.opened > 0.5 ? this.map.openY : layout.openY,
        this.open.height ?? OPEN_HEIGHT,
        layout.frame.wordWidth + 8,
      );
    this.editor.place();
    this.roles.draw();
    this.formulas.draw(this.opened > 0 || this.isHidden ? null : this.journey.told, this.snapshot.parts, layout);
    this.rail.mark(this.headKey);
    const isMapBelow = this.data.cut && shared.look?.step && this.look.view === "flow";
    this.views.mark(isMapBelow ? "map" : this.look.view);
    this.beside.hidden = !this.data.compares || (this.look.view === "heads" && Boolean(this.data.reads.side));
    this.plane.draw();
    this.heads.draw();
    this.sentences.say(snapshot, now);
    this.bar.draw(this.caption.textContent);
    if (!this.isPainted) this.tellWhenPainted();
  }

  // Sends "flow-painted" after the first frame, so that rest.js requests the delayed parts of the page.
  tellWhenPainted() {
    this.isPainted = true;
    requestAnimationFrame(() => setTimeout(() => {
      shared.paintedFlow = this.root;
      tellOthers("flow-painted");
    }));
  }

  // Draws the flow picture, the map, or both while one opens over the other.
  drawViews(snapshot, layout, now) {
    const glow = fading(this.glow, now);
    // Requests new frames for the times when the outlines and the old headline disappear.
    if (this.glow?.begun === now) [GLOW_MS, BEFORE_MS].forEach((ms) => setTimeout(() => this.ask(), ms));
    if (glow && !isCalm()) this.ask();
    if (this.opened < 1 && !this.isHidden) this.picture.draw(pictureView(this, snapshot, layout, glow));
    const waits = this.waiting.has(this.share) ? WAITING : 1;
    this.flowGroup.style.opacity = String(clamp(1 - this.opened * FLOW_GOES) * waits);
    this.flowGroup.style.pointerEvents = this.opened > 0.5 ? "none" : "";
    this.map.draw(mapView(this, layout));
    if (this.look.view === "map") this.drawStrip();
  }

  moveToView(now) {
    const isMap = this.look.view === "map";
    const target = Number(isMap);
    const step = Math.min(now - (this.drawnAt ?? now), LONGEST_FRAME_MS) / OPENS_MS;
    this.drawnAt = now;
    this.opened = isCalm() ? target : this.opened + clamp(target - this.opened, -step, step);
    if (Math.abs(this.opened - target) < 1e-9) this.opened = target;
    else this.ask();
    this.bar.root.hidden = this.caption.hidden = isMap;
    this.strip.root.hidden = !isMap;
  }

  // Returns [snapshot, layout], interpolated between the state before a change and the state after it.
  blend(now) {
    const { snapshot, before } = this;
    const share = before ? easeInOut(clamp((now - before.begun) / CHANGE_MS)) : 1;
    const layout = this.arrangement.at(this.progress);
    if (!before || share >= 1) {
      this.before = null;
      return [snapshot, layout];
    }
    const numbers = {};
    for (const name of Object.keys(snapshot.numbers))
      numbers[name] = blendArrays(before.numbers[name], snapshot.numbers[name], share);
    this.ask();
    return [
      { ...snapshot, numbers, shares: blendArrays(before.shares, snapshot.shares, share) },
      blendLayouts(before.layout, layout, share),
    ];
  }

  // Draws the row of small step maps; their numbers are painted again after a selection or a drag.
  drawStrip() {
    const { look, model, data } = this;
    const { head, query, step } = look;
    const [made, steps] = [data.digest, model.steps];
    const shows = { made, steps, head, query };
    const before = this.stripShows;
    if (made !== before?.made) this.strip.show(smallSteps(this), data.palette);
    else if (Object.keys(shows).some((name) => shows[name] !== before?.[name]))
      this.strip.paint(smallSteps(this), data.palette);
    this.stripShows = shows;
    const { operation, label } = this.data.steps[step];
    const { made_of: madeOf, dashed } = this.data.text;
    this.strip.mark(step, operation?.reads, madeOf.replace("{step}", label), dashed.replace("{step}", label));
  }
}

const isSameLook = (one, other) => String(Object.values(one)) === String(Object.values(other));
