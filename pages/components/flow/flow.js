// The flow of one query through a layer: it is looked at, played and dragged back in the browser.
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
    this.isDragged = false; // the twin has answered, the server not yet
    this.moved = []; // the steps that the twin made anew
    this.differs = null; // one where the server then had other numbers
    this.frame = null;
    this.hands = new Hands(this);
    this.listen();
  }

  // All that stands below each other.
  makeParts() {
    const top = added(this.root, "div", "top");
    const headline = added(top, "p", "headline");
    this.views = new Choice(added(top, "div", "views"), (view) => this.lookAt({ view }));
    this.rail = new SmallMaps(added(this.root, "div", "rail"), (head) => this.lookAt({ head }));
    this.stage = added(this.root, "div", "stage");
    this.svg = makeElement(this.stage, "svg");
    this.sum = new SumPanel(added(this.stage, "div", "panel"), {
      follow: (cell) => this.tell("followed", cell),
      close: () => this.unfold(null),
      point: () => this.ask(),
    });
    this.formulas = new Formulas(added(this.stage, "div", "formulas"));
    this.editor = new CellEditor(added(this.stage, "div", "editor"), this);
    this.caption = added(this.root, "p", "caption");
    this.sentences = new Sentences(this, headline, this.caption, added(this.root, "p", "heard"));
    this.bar = new StopsBar(added(this.root, "div", "bar"), this.journey);
    this.strip = new SmallMaps(added(this.root, "div", "strip"), (step) => this.lookAt({ step }));
    this.plane = new PlaneView(added(this.root, "div", "plane"), this);
    this.flowGroup = makeElement(this.svg, "g");
    this.picture = new Picture(this.flowGroup);
    this.map = new MapView(this.svg);
    this.flights = new Flights(this);
  }

  listen() {
    this.hears = { "flow-look": ({ detail }) => this.exchange.obey(detail), "flow-drag": ({ detail }) => this.drag(detail), "flow-step": (event) => this.stepFromAfar(event) };
    for (const [name, hear] of Object.entries(this.hears)) window.addEventListener(name, hear);
    new ResizeObserver(() => this.resized()).observe(this.root);
    document.fonts.ready.then(() => {
      widths.clear();
      this.resized();
    });
  }

  // The page has dropped the picture.
  leave() {
    for (const [name, hear] of Object.entries(this.hears)) window.removeEventListener(name, hear);
  }

  // ---- data -----------------------------------------------------------------------------------------------------------
  show(data) {
    if (data.digest === this.data?.digest && (data.hears || isSameLook(data.look, this.data.look))) {
      if (this.isDragged) this.plane.refuse();
      return;
    }
    const [before, old] = [this.snapshot, this.data];
    const moved = this.isDragged ? this.moved : [];
    const isToBegin = !data.hears && (!before || this.isToldToLook(data));
    this.data = data;
    this.model = new Model(data);
    for (const [name, colour] of Object.entries(data.palette)) this.root.style.setProperty(`--${name}`, colour);
    const stays = this.look && !data.cut && (data.hears || isSameLook(old.look, data.look));
    this.look = stays ? this.exchange.withinReach(this.look) : this.exchange.lookOf(data.look);
    this.differs = findTwinDifference(data.steps, moved, this.look.query, data.rounding);
    this.fit(data);
    this.views.show(data.text.views, Object.keys(data.text.views));
    this.rail.root.hidden = data.heads < 2;
    this.rail.show(smallHeads(this), data.palette);
    this.bar.show(data.text);
    this.strip.root.setAttribute("aria-label", data.text.steps);
    this.stripShows = null;
    this.root.classList.remove("waits");
    this.take();
    this.glow = before && !data.cut && isSameWords(old, data) && !isCalm() ? findChanges(before, this.snapshot, this.model) : null;
    if (isToBegin && !(data.plays && isCalm())) this.journey.begin(data);
    if (data.hears && window.flowLook) this.exchange.obey(window.flowLook);
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
  stepFromAfar(event) {
    const isHere = this.data?.fills && this.root.isConnected && this.look.view !== "map";
    if (isHere && this.journey.stepBy(event.detail)) event.preventDefault();
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

  // Another snapshot: numbers and places flow to it.
  take() {
    const before = this.snapshot;
    this.before = before && this.layout ? { numbers: before.numbers, shares: before.shares, layout: this.layout, begun: performance.now() } : null;
    this.isDragged = false;
    this.steps = null; // of the twin
    this.takeSnapshot(this.model.snapshot(this.look));
  }

  // A hand drags: the twin answers in the same frame, for the query that is looked at.
  // change: { params, values } of follow in twin.js.
  drag(change) {
    if (!this.data) return;
    if (this.data.cut) {
      this.root.classList.add("waits");
      this.ask();
      return;
    }
    if (!this.data.hears) this.journey.scrub(Infinity); // what a hand does is seen at the end
    const { steps, waiting } = follow(this.data.steps, change, [this.look.query]);
    this.root.classList.toggle("waits", waiting.has(this.share));
    this.steps = steps;
    this.moved = Object.keys(steps).filter((name) => steps[name] !== this.data.steps[name]);
    this.before = this.differs = null;
    this.isDragged = true;
    this.takeSnapshot(this.model.snapshot(this.look, steps));
  }

  takeSnapshot(snapshot) {
    this.snapshot = snapshot;
    this.journey.take(snapshot.stops);
    this.arrange();
  }

  resized() {
    if (!this.snapshot || !this.root.clientWidth) return;
    this.before = null;
    this.arrange();
  }

  arrange() {
    const { width, height } = this.arrangement.arrange(this);
    Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }).forEach(([name, value]) => this.svg.setAttribute(name, value));
    this.ask();
  }

  // ---- what is looked at ----------------------------------------------------------------------------------------------
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
    this.open.height = this.sum.heightAt(this.root.clientWidth - wordWidth - 8);
  }

  // ---- frames ---------------------------------------------------------------------------------------------------------
  ask() {
    this.frame ??= requestAnimationFrame((now) => {
      this.frame = null;
      this.drawAt(now);
    });
  }

  drawAt(now) {
    if (!this.root.isConnected) {
      this.leave();
      return;
    }
    this.journey.advance(now);
    this.moveToView(now);
    const [snapshot, layout] = this.blend(now);
    this.layout = layout;
    this.drawViews(snapshot, layout, now);
    if (this.open) this.sum.place(this.opened > 0.5 ? this.map.openY : layout.openY, this.open.height ?? OPEN_HEIGHT, layout.frame.wordWidth + 8);
    this.editor.place();
    this.formulas.draw(this.opened > 0 ? null : this.journey.told, this.snapshot.parts, layout);
    this.rail.mark(this.look.head);
    this.views.mark(this.data.cut && window.flowLook?.step ? "map" : this.look.view);
    this.plane.draw();
    this.sentences.say(snapshot, now);
    this.bar.draw(this.caption.textContent);
  }

  // The flow and the map, of which one becomes the other.
  drawViews(snapshot, layout, now) {
    const glow = fading(this.glow, now);
    if (glow) this.ask();
    if (this.opened < 1) this.picture.draw(pictureView(this, snapshot, layout, glow));
    this.flowGroup.style.opacity = clamp(1 - this.opened * FLOW_GOES);
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
    const share = this.before ? easeInOut(clamp((now - this.before.begun) / (isCalm() ? 1 : CHANGE_MS))) : 1;
    const layout = this.arrangement.at(this.progress);
    if (share >= 1) {
      this.before = null;
      return [this.snapshot, layout];
    }
    const { snapshot, before } = this;
    const numbers = {};
    for (const name of Object.keys(snapshot.numbers)) numbers[name] = blendArrays(before.numbers[name], snapshot.numbers[name], share);
    this.ask();
    return [{ ...snapshot, numbers, shares: blendArrays(before.shares, snapshot.shares, share) }, blendLayouts(before.layout, layout, share)];
  }

  // The strip is made when it is first seen, and when another head or query is looked at.
  drawStrip() {
    const { head, query, step } = this.look;
    const shows = `${this.data.digest} ${head} ${query}`;
    if (shows !== this.stripShows) this.strip.show(smallSteps(this), this.data.palette);
    this.stripShows = shows;
    this.strip.mark(step, this.data.steps[step].operation?.reads);
  }
}

const isSameLook = (one, other) => String(Object.values(one)) === String(Object.values(other));
