// The flow of one query through a layer: it is looked at, played and dragged back in the browser.
import { added, addedShape, setColours } from "../dom.js";
import { unpacked } from "../pixels.js";
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
import { Journey } from "./journey.js";
import { blendLayouts } from "./layout.js";
import { MapView, WAITING } from "./map.js";
import { Model } from "./model.js";
import { blendArrays, clamp, easeInOut, isCalm } from "./motion.js";
import { Picture } from "./picture/picture.js";
import { PlaneView } from "./plane.js";
import { RoleChoices } from "./role_choices.js";
import { Sentences } from "./sentences.js";
import { SmallMaps } from "./small_maps.js";
import { SumPanel } from "./sum.js";
import { follow } from "./twin.js";
import { findTwinDifference, isProven, movedInputs, ShownRows } from "./twin_check.js";
import { mapView, pictureView, smallHeads, smallSteps, sumView } from "./views.js";
import { widths } from "./words.js";

const CHANGE_MS = 420; // numbers and places, from one state to the next
const FLOW_GOES = 2; // times faster than the map opens, the flow fades
const OPENS_MS = 750; // from the flow to the map
const LONGEST_FRAME_MS = 34; // a frame that comes later moves no farther

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".flow");
  const flow = (root.flow ??= new Flow(root));
  flow.show(withNumbers(unpacked(data)));
}

// The data with each step's own numbers.
function withNumbers(data) {
  const numbers = new Float64Array(data.numbers.slice().buffer);
  for (const step of Object.values(data.steps)) {
    const count = step.shape.reduce((one, other) => one * other, 1);
    step.value = numbers.subarray(step.first, step.first + count);
  }
  return data;
}

class Flow {
  constructor(root) {
    this.root = root;
    this.journey = new Journey(() => this.ask(), () => this.exchange.tellStop());
    this.exchange = new Exchange(this);
    this.arrangement = new Arrangement();
    this.makeParts();
    this.open = null; // the cell whose sum is unfolded: { step, index, height }
    this.opened = 0; // how far the map is open
    this.change = null; // what a hand has moved, and the server not yet: { params, values } of follow in twin.js
    this.moved = []; // the steps that the twin made anew
    this.waiting = new Set(); // those that it could not
    this.partial = new Set(); // those of which it made the query's row alone
    this.shown = new ShownRows();
    this.differs = null; // a step where the server then had other numbers
    this.frame = null;
    this.isPainted = false;
    this.hands = new Hands(this);
    this.listen();
  }

  // All that stands below each other.
  makeParts() {
    const top = added(this.root, "div", "top");
    const headline = added(top, "p", "headline");
    this.views = new Choice(added(top, "div", "views"), (view) => this.lookAt({ view }));
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
    this.sentences = new Sentences(this, headline, this.caption, added(this.root, "p", "heard"));
    this.bar = new StopsBar(added(this.root, "div", "bar"), this.journey);
    this.strip = new SmallMaps(added(this.root, "div", "strip"), (step) => this.lookAt({ step }));
    this.plane = new PlaneView(added(this.root, "div", "plane"), this);
    this.flowGroup = addedShape(this.svg, "g");
    this.picture = new Picture(this.flowGroup);
    this.map = new MapView(this.svg);
    this.flights = new Flights(this);
  }

  listen() {
    this.ends = [
      hear("flow-look", (look) => this.exchange.obey(look)),
      hear("flow-drag", (change) => this.drag(change)),
      hear("flow-release", () => this.release()),
      hear("flow-step", (way, event) => this.stepFromAfar(way, event)),
    ];
    new ResizeObserver(() => this.resized()).observe(this.root);
    document.fonts.ready.then(() => {
      widths.clear();
      this.resized();
    });
  }

  // The page has dropped the picture.
  leave() {
    document.body.removeAttribute("data-dragged");
    this.ends.forEach((end) => end());
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
    this.model = new Model(data);
    setColours(this.root, data.palette);
    const stays = this.look && !data.cut && (data.hears || isSameLook(old.look, data.look));
    this.look = stays ? this.exchange.withinReach(this.look) : this.exchange.lookOf(data.look);
    this.differs =
      findTwinDifference(data.steps, moved, this.look.query, data.rounding) ??
      this.shown.compare(old, data, this.model);
    const isStill = this.isHeld() || this.shown.waits; // held, or let go a second time: this run answers the first
    if (!isStill || !movedInputs(old?.steps ?? {}, data.steps)) this.change = null;
    this.fit(data);
    this.roles.show(data.roles);
    this.views.show(data.text.views, Object.keys(data.text.views));
    this.rail.root.hidden = data.heads < 2;
    this.rail.root.classList.toggle("layers", Boolean(data.layers.now));
    this.rail.show(smallHeads(this), data.palette);
    this.bar.show(data.text);
    this.strip.root.setAttribute("aria-label", data.text.steps);
    this.stripShows = null;
    this.journey.known = new Set(data.known);
    this.take();
    this.glow = before && !data.cut && isSameSight(old, data) ? findChanges(before, this.snapshot, this.model) : null;
    if (isToBegin && !(data.plays && isCalm())) this.journey.begin(data);
    if (data.hears && shared.look) this.exchange.obey(shared.look);
    else if (data.hears) this.exchange.expect(data.look);
  }

  // Whether a picture that tells the server nothing is told to look at something else.
  isToldToLook({ hears, look }) {
    return !hears && look.order > this.data?.look.order;
  }

  // The picture of a page of its own, of one that plays, of a hall's screen.
  fit(data) {
    for (const name of ["shown", "plays", "fills", "speaks"]) this.root.classList.toggle(name, data[name]);
    this.stage.tabIndex = data.fills ? -1 : 0; // the keys are the presentation's
    this.stage.role = data.fills ? "img" : "group";
    this.bar.gives = data.fills;
  }

  // A key of a presentation leads to another stop, and where there is none to another scene.
  stepFromAfar(way, event) {
    const isHere = this.data?.fills && this.root.isConnected && this.look.view !== "map";
    if (isHere && this.journey.stepBy(way)) event.preventDefault();
  }

  // The step that holds the shares.
  get share() {
    return this.data.parts.find((part) => part.is_share).name;
  }

  get asking() {
    return this.data.words.T[this.look.query];
  }

  get progress() {
    return this.journey.progress;
  }

  // Another snapshot: numbers and places flow to it. What a hand has moved stays so.
  take() {
    const { snapshot: before, layout } = this;
    const moves = before && layout && !isCalm();
    this.before = moves ? { numbers: before.numbers, shares: before.shares, layout, begun: performance.now() } : null;
    this.follow();
    this.takeSnapshot(this.model.snapshot(this.look));
    this.followMaps();
  }

  // ---- dragging -----------------------------------------------------------------------------------------------------
  // The twin has answered, the server not yet.
  get isDragged() {
    return this.change !== null;
  }

  // Whether a hand still holds something.
  isHeld() {
    return Boolean(shared.heldSlider || this.plane.hands?.held);
  }

  // A hand drags, and is followed in the same frame. change: of follow in twin.js; { waits } where the twin cannot;
  // null where all is back where it was.
  drag(change) {
    if (!this.data) return;
    if (!this.data.hears && !this.data.cut) this.journey.scrub(Infinity); // what a hand does is seen at the end
    this.change = change && (change.waits || !isProven(this.data.steps, change)) ? change : null;
    this.glow = this.differs = null;
    this.take();
    this.before = null;
  }

  // The hand lets go: what it saw is kept, until the server has computed the same.
  release() {
    if (this.isDragged && !this.waitsForServer) this.shown.keep(this);
  }

  get waitsForServer() {
    return Boolean(this.data.cut || this.change?.waits);
  }

  // The numbers that are seen: of the run, or the twin's. A large run's wait for the server.
  follow() {
    const { data, change, model } = this;
    model.steps = data.steps;
    this.waiting = new Set(change && this.waitsForServer ? Object.keys(data.steps) : []);
    this.partial = new Set();
    if (change && !this.waitsForServer) this.followChange();
    const [waited, waits] = [this.root.classList.contains("waits"), this.waiting.has(this.share)];
    this.root.classList.toggle("waits", waits);
    if (waits !== waited) tellOthers("flow-waits", waits);
    document.body.toggleAttribute("data-dragged", this.isDragged); // what does not follow is pale: page.css
    this.root.classList.toggle("dragged", this.isDragged && model.steps[this.share] !== data.steps[this.share]);
  }

  // The rows that are seen, and no more: of a map and of a head's small map all of that head.
  followChange() {
    const { data, change, look } = this;
    const seen = this.stepsSeen();
    const isAllSeen = seen.length > 0 || data.heads > 1;
    const inHead = follow(data.steps, change, { query: look.query, head: isAllSeen ? look.head : undefined });
    const isPart = seen.some((name) => inHead.partial.has(name)); // what is made of all heads
    const { steps, waiting, partial } = isPart ? follow(data.steps, change) : inHead;
    this.model.steps = steps;
    this.waiting = waiting;
    this.partial = partial;
    this.moved = Object.keys(steps).filter((name) => steps[name] !== data.steps[name]);
  }

  // The steps of which more than the query's row is on the screen.
  stepsSeen() {
    const { data, look, open } = this;
    const { product } = data.steps[look.step];
    const onMap = look.view === "map" ? [look.step, product?.left.step, product?.above.step] : [];
    const inSum = open ? [open.step, ...this.sum.operands.map(({ step }) => step)] : [];
    return [...onMap, ...inSum].filter(Boolean);
  }

  // Small maps and an open sum show the same as the picture.
  followMaps() {
    if (!this.rail.root.hidden) this.rail.paint(smallHeads(this), this.data.palette);
    if (this.open && !this.data.cut) this.sum.follow(sumView(this));
  }

  takeSnapshot(snapshot) {
    this.snapshot = snapshot;
    this.journey.take(snapshot.stops);
    this.isArranged = false; // it is when it is drawn
    this.ask();
  }

  resized() {
    this.measured = this.root.clientWidth;
    if (!this.snapshot || !this.measured) return;
    this.before = null;
    this.arrange();
    this.ask();
  }

  // Asked once for each size: an answer costs a layout of the page.
  get width() {
    return (this.measured ||= this.root.clientWidth);
  }

  // Whether a hand drags in the plane or beside the open map: nothing of the flow is seen then.
  get isHidden() {
    if (!this.isDragged || !this.layout) return false;
    return this.look.view === "plane" || (this.look.view === "map" && this.opened === 1);
  }

  arrange() {
    const { width, height } = this.arrangement.arrange(this);
    Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }).forEach(([name, value]) =>
      this.svg.setAttribute(name, value),
    );
    this.isArranged = true;
  }

  // What the head that is looked at is called in the row of all heads.
  get headKey() {
    const { now } = this.data.layers;
    return now ? `${now}.${this.look.head}` : this.look.head;
  }

  // A head of this run is looked at here; for one of another layer the server is asked.
  chooseHead(key) {
    const [layer, head] = String(key).includes(".") ? key.split(".").map(Number) : [this.data.layers.now, key];
    if (layer === this.data.layers.now) this.lookAt({ head });
    else this.tell("looked", { query: this.look.query, head, layer });
  }

  // ---- what is looked at --------------------------------------------------------------------------------------------
  lookAt(changes) {
    if (this.data.cut) {
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

  tell(name, value) {
    this.exchange.tell(name, value);
  }

  // Opens the sum of a cell in the gap under its row, or folds it.
  unfold(means) {
    if (!this.data.hears) return; // nobody writes the sum
    this.fold();
    this.open = means && this.placeOfCell(means);
    this.take();
    if (this.open && this.look.view === "map") this.look = { ...this.look, step: this.open.step };
    if (this.open) this.tell("opened", { step: this.open.step, index: this.open.index });
    else this.exchange.tellLooked();
  }

  placeOfCell({ part: name, row, m, cell }) {
    if (cell) return { step: cell.step, index: cell.index };
    const part = this.model.parts.get(name);
    return { step: part.name, index: this.model.indexOf(part, this.look, row, m) };
  }

  fold() {
    this.open = null;
    this.sum.root.hidden = true;
  }

  // The operands of the sum that is unfolded.
  ringed() {
    return this.open && !this.sum.root.hidden ? this.sum.operands : [];
  }

  // The server has written the sum of the cell that is open. One that the picture does not draw opens under the lane.
  fillSum({ step, cell, sum }) {
    this.open = { step, index: cell };
    this.sum.show(sum);
    this.sum.root.hidden = false;
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

  // What was asked for, at once: who reads what is drawn cannot wait for the next frame.
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
    this.views.mark(this.data.cut && shared.look?.step ? "map" : this.look.view);
    this.plane.draw();
    this.sentences.say(snapshot, now);
    this.bar.draw(this.caption.textContent);
    if (!this.isPainted) this.tellWhenPainted();
  }

  // The page holds back what it asks for then: rest.js.
  tellWhenPainted() {
    this.isPainted = true;
    requestAnimationFrame(() => setTimeout(() => {
      shared.paintedFlow = this.root;
      tellOthers("flow-painted");
    }));
  }

  // The flow and the map, of which one becomes the other.
  drawViews(snapshot, layout, now) {
    const glow = fading(this.glow, now);
    // The outlines and the old headline end then.
    if (this.glow?.begun === now) [GLOW_MS, BEFORE_MS].forEach((ms) => setTimeout(() => this.ask(), ms));
    if (glow && !isCalm()) this.ask();
    if (this.opened < 1 && !this.isHidden) this.picture.draw(pictureView(this, snapshot, layout, glow));
    this.flowGroup.style.opacity = clamp(1 - this.opened * FLOW_GOES) * (this.waiting.has(this.share) ? WAITING : 1);
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

  // Numbers and places between those before and those now.
  blend(now) {
    const share = this.before ? easeInOut(clamp((now - this.before.begun) / CHANGE_MS)) : 1;
    const layout = this.arrangement.at(this.progress);
    if (share >= 1) {
      this.before = null;
      return [this.snapshot, layout];
    }
    const { snapshot, before } = this;
    const numbers = {};
    for (const name of Object.keys(snapshot.numbers))
      numbers[name] = blendArrays(before.numbers[name], snapshot.numbers[name], share);
    this.ask();
    return [
      { ...snapshot, numbers, shares: blendArrays(before.shares, snapshot.shares, share) },
      blendLayouts(before.layout, layout, share),
    ];
  }

  // The strip is made when it is first seen; another look and a drag paint it anew.
  drawStrip() {
    const { look, model, data } = this;
    const { head, query, step } = look;
    const [made, steps] = [data.digest, model.steps];
    const shows = { made, steps, head, query };
    if (made !== this.stripShows?.made) this.strip.show(smallSteps(this), data.palette);
    else if (Object.keys(shows).some((name) => shows[name] !== this.stripShows[name]))
      this.strip.paint(smallSteps(this), data.palette);
    this.stripShows = shows;
    const { operation, label } = this.data.steps[step];
    this.strip.mark(step, operation?.reads, this.data.text.made_of.replace("{step}", label));
  }
}

const isSameLook = (one, other) => String(Object.values(one)) === String(Object.values(other));
