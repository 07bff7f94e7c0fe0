// The flow of one query through a layer: it is looked at, played and dragged back in the browser; the server hears of what
// is looked at when the hand rests.
const STOP_MS = { ask: 2000, match: 3400, meet: 3000, scale: 1200, add: 1800, mask: 1300, power: 1700, share: 3200, gather: 2300, merge: 900, output: 900 };
const USUAL_STOP_MS = 1400;
const HOLD_MS = 450; // between two stops, while it plays
const CALM_STOP_MS = 1600; // a stop where nothing may move
const OPEN_HEIGHT = 88; // px: the room for a sum of which nothing is known yet
const CHANGE_MS = 420; // numbers and places, from one state to the next
const GLOW_MS = 1300; // what a change changed is outlined
const BEFORE_MS = 3200; // what the headline said before
const HAND_RESTS_MS = 350; // then the server hears what is looked at

const lastsMs = (stop) => STOP_MS[stop.motion] ?? USUAL_STOP_MS;

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
    this.top = added(root, "div", "top");
    this.headline = added(this.top, "p", "headline");
    this.views = new Choice(added(this.top, "div", "views"), (view) => this.lookAt({ view }));
    this.rail = new Rail(added(root, "div", "rail"), (head) => this.lookAt({ head }));
    this.stage = added(root, "div", "stage");
    this.svg = this.stage.appendChild(document.createElementNS(SVG, "svg"));
    this.sum = new SumPanel(added(this.stage, "div", "panel"), {
      follow: (cell) => this.tell("followed", cell),
      close: () => this.unfold(null),
    });
    this.open = null; // the cell whose sum is unfolded: { step, index, height }
    this.caption = added(root, "p", "caption");
    this.heard = added(root, "p", "heard"); // by a screen reader: the row, and the stop
    this.heard.setAttribute("role", "status");
    this.bar = new StopsBar(added(root, "div", "bar"), this);
    this.strip = new StepStrip(added(root, "div", "strip"), (step) => this.lookAt({ step }));
    this.flowGroup = this.svg.appendChild(document.createElementNS(SVG, "g"));
    this.picture = new Picture(this.flowGroup);
    this.map = new MapView(this.svg);
    this.opened = 0; // how far the map is open
    this.hovered = this.hoveredCell = null;
    this.progress = Infinity;
    this.frame = null;
    this.order = 0; // of the server, the last that was obeyed
    this.listen();
  }

  listen() {
    this.svg.addEventListener("click", (event) => this.pressed(event.target.means));
    this.svg.addEventListener("pointerover", (event) => event.pointerType !== "touch" && this.hover(event.target.means));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.listenToTouch();
    Object.assign(this.stage, { tabIndex: 0, role: "group" });
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.open && this.unfold(null));
    this.hears = { "flow-look": ({ detail }) => this.obey(detail), "flow-drag": ({ detail }) => this.drag(detail) };
    for (const [name, hear] of Object.entries(this.hears)) window.addEventListener(name, hear);
    new ResizeObserver(() => this.resized()).observe(this.root);
    document.fonts.ready.then(() => {
      widths.clear();
      this.resized();
    });
  }

  // A finger that stays on a word leaves its threads alone; it then opens nothing.
  listenToTouch() {
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch") return;
      const { means } = event.target;
      this.held = false;
      this.holding = setTimeout(() => {
        this.held = true;
        this.hover(means);
      }, 350);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.svg.addEventListener(name, () => {
        clearTimeout(this.holding);
        if (this.held) setTimeout(() => this.hover(null), 1500);
      });
    }
  }

  // ---- data -----------------------------------------------------------------------------------------------------------
  show(data) {
    if (data.digest === this.data?.digest) return;
    const [before, old] = [this.snapshot, this.data];
    this.data = data;
    this.model = new Model(data);
    for (const [name, colour] of Object.entries(data.palette)) this.root.style.setProperty(`--${name}`, colour);
    const stays = this.look && !data.cut && (data.hears || String(Object.values(old.look)) === String(Object.values(data.look)));
    this.look = stays ? this.withinReach() : this.lookOf(data.look);
    this.headline.hidden = !data.speaks;
    this.views.show(data.text.views, ["flow", "map"]);
    this.showRail();
    this.bar.show(data.text);
    this.stripShows = null;
    this.root.classList.remove("waits");
    this.take(before);
    this.glow = before && !data.cut && isSameWords(old, data) && !this.isCalm() ? this.findChanges(before) : null;
    if (!data.hears) this.begin(before);
    else if (window.flowLook) this.obey(window.flowLook);
    else this.expect(data.look);
  }

  // A picture that is only looked at begins its journey by itself, where things may move.
  begin(before) {
    if (before || !this.data.plays || this.isCalm()) return;
    this.progress = 0;
    this.playing = {};
    this.ask();
  }

  showRail() {
    const { share } = this;
    this.rail.show(this.data.head_names, (head) => this.model.headMap(share, { ...this.look, head }), this.data.palette);
  }

  // The step that holds the shares.
  get share() {
    return this.data.parts.find((part) => part.is_share).name;
  }

  // What the server says is looked at.
  lookOf({ batch, head, query, step, cell }) {
    const isMap = step !== null && (cell === null || !this.model.findPart(step, cell));
    const stays = this.look?.view === "map" && step === this.look.step;
    if (this.data.cut) return { batch, head, query, view: "flow", step: this.share }; // the map stands under it
    return { batch, head, query, view: isMap || stays ? "map" : "flow", step: step ?? this.share };
  }

  // The same look in another run, as far as it has it.
  withinReach() {
    const { batch, head, query, view, step } = this.look;
    return {
      batch: Math.min(batch, this.data.look.batch),
      head: Math.min(head, this.data.heads - 1),
      query: Math.min(query, this.data.words.T.length - 1),
      view,
      step: step in this.data.steps ? step : this.share,
    };
  }

  // The channel may come after the picture: it then brings the sum of the opened cell, and nothing else that is new.
  expect({ order, step, cell }) {
    this.order = order;
    this.open = cell && { step, index: cell };
  }

  // The server hands what it looks at, and the sum of the opened cell. It is obeyed where it says something new.
  obey(look) {
    if (!this.data?.hears) return;
    const isNew = look.order > this.order;
    if (isNew) {
      this.order = look.order;
      this.look = this.lookOf(look);
    }
    const isOpen = this.open && isSamePlace(this.open, { step: look.step, index: look.cell });
    if (!look.cell) {
      if (isNew) this.fold();
    } else if (isNew || isOpen) this.fillSum(look);
    this.take();
  }

  // Another snapshot: numbers and places flow to it.
  take(before = this.snapshot) {
    this.isDragged = false;
    const isAtEnd = this.progress >= (before?.stops.length ?? 0);
    this.snapshot = this.model.snapshot(this.look);
    this.progress = isAtEnd ? this.snapshot.stops.length : Math.min(this.progress, this.snapshot.stops.length);
    this.before = before && this.layout ? { numbers: before.numbers, shares: before.shares, layout: this.layout, begun: performance.now() } : null;
    this.arrange();
    this.ask();
  }

  // What a change of the run changed: of each part the rows whose numbers are others; what the headline said.
  findChanges(before) {
    const rows = new Map();
    for (const { name } of this.snapshot.parts) {
      const [old, now] = [before.numbers[name], this.snapshot.numbers[name]];
      if (!old || old.length !== now.length) continue;
      const changed = new Set();
      const width = now.length / (this.model.parts.get(name).role === "lane" ? 1 : this.snapshot.shares.length);
      now.forEach((number, i) => isOther(old[i], number) && changed.add(Math.floor(i / width)));
      if (changed.size) rows.set(name, changed);
    }
    const best = largestOf(this.snapshot.shares, 0, this.snapshot.shares.length);
    const share = before.shares[best];
    const said = spellPercent(share) === spellPercent(this.snapshot.shares[best]) ? "" : spellPercent(share);
    return rows.size ? { rows, said, begun: performance.now() } : null;
  }

  // A hand drags: the twin answers in the same frame, for the query that is looked at.
  // change: { params, values } of follow in twin.js.
  drag(change) {
    if (!this.data) return;
    if (!this.data.hears) this.scrub(Infinity); // on Start here it plays: what a hand does is seen at the end
    if (this.data.cut) {
      this.root.classList.add("waits");
      this.ask();
      return;
    }
    const { steps, waiting } = follow(this.data.steps, change, [this.look.query]);
    this.root.classList.toggle("waits", waiting.has(this.share));
    this.snapshot = this.model.snapshot(this.look, steps);
    this.progress = Math.min(this.progress, this.snapshot.stops.length);
    this.before = null;
    this.isDragged = true;
    this.arrange();
    this.ask();
  }

  resized() {
    if (!this.snapshot || !this.root.clientWidth) return;
    this.before = null;
    this.arrange();
    this.ask();
  }

  // The layouts at all stops, from the room that there is.
  arrange() {
    const width = this.root.clientWidth;
    const compact = width < 640;
    const unit = clamp(width / 1010, compact ? 0.62 : 0.8, 1.75);
    const height = this.data.height * (compact ? 0.8 : 1) * clamp(unit, 0.9, 1.75);
    Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }).forEach(([name, value]) => this.svg.setAttribute(name, value));
    const measure = (text, size, weight = 400) => textWidth(text, size * unit, weight);
    const longest = Math.max(...this.model.keys.map((word) => measure(word, 24, 700)));
    const open = this.open && this.look.view === "flow" && this.model.findPart(this.open.step, this.open.index);
    const common = {
      width, height, unit, compact,
      crossed: this.data.crossed,
      open: open ? { row: open.row, height: this.open.height ?? OPEN_HEIGHT } : this.open && this.look.view === "flow" ? { row: "lane", height: this.open.height ?? OPEN_HEIGHT } : null,
      wordWidth: Math.min(longest + 22 * unit, width * 0.24),
      endWidth: measure(`${this.asking()}′`, 24, 700) + 26 * unit,
      headWidth: (part) => Math.max(measure(part.sign, 19, 700), measure(part.label, 13.5)) + 6 * unit,
    };
    const { stops, parts } = this.snapshot;
    const given = parts.filter((part) => !stops.some((stop) => stop.parts.includes(part.name))).map((part) => part.name);
    const shown = new Set(given);
    this.layouts = stops.map((stop) => {
      stop.parts.forEach((name) => shown.add(name));
      const reserve = stop.motion === "power" || stop.motion === "share" ? Math.min(400 * unit, width * 0.38) : 0;
      return layOut(this.snapshot, { ...common, reserve, shown: new Set(shown) });
    });
  }

  asking() {
    return this.data.words.T[this.look.query];
  }

  // Where everything stands now: each stop has a layout of its own and first makes room for what comes.
  layoutAt(progress) {
    const last = this.layouts.length - 1;
    const stop = Math.min(last, Math.floor(progress));
    if (progress >= this.layouts.length || stop === 0) return this.layouts[progress >= this.layouts.length ? last : 0];
    return blendLayouts(this.layouts[stop - 1], this.layouts[stop], easeInOut(clamp((progress - stop) / 0.3)));
  }

  // ---- time -----------------------------------------------------------------------------------------------------------
  ask() {
    this.frame ??= requestAnimationFrame((now) => {
      this.frame = null;
      this.drawAt(now);
    });
  }

  drawAt(now) {
    if (!this.root.isConnected) return this.leave();
    if (this.playing) this.play(now);
    if (this.glide) this.followGlide(now);
    this.moveToView();
    const [snapshot, layout] = this.blend(now);
    this.layout = layout;
    if (this.opened < 1) this.drawFlow(snapshot, layout, now);
    this.flowGroup.style.opacity = clamp(1 - this.opened * 1.6);
    this.flowGroup.style.pointerEvents = this.opened > 0.5 ? "none" : "";
    this.drawMap(layout);
    if (this.open) this.sum.place(this.opened > 0.5 ? this.map.openY : layout.openY, this.open.height ?? OPEN_HEIGHT, layout.frame.wordWidth + 8);
    this.rail.mark(this.look.head);
    this.views.mark(this.data.cut && window.flowLook?.step ? "map" : this.look.view);
    this.say(snapshot, now);
    this.bar.draw(this.snapshot.stops, this.progress);
    if (this.playing) this.ask();
  }

  // The page has dropped the picture.
  leave() {
    for (const [name, hear] of Object.entries(this.hears)) window.removeEventListener(name, hear);
  }

  moveToView() {
    const isMap = this.look.view === "map";
    const target = Number(isMap);
    this.opened = this.isCalm() ? target : this.opened + clamp(target - this.opened, -0.04, 0.04);
    if (Math.abs(this.opened - target) < 1e-9) this.opened = target;
    else this.ask();
    this.bar.root.hidden = this.caption.hidden = isMap;
    this.strip.root.hidden = !isMap;
  }

  // Numbers and places between those before and those now.
  blend(now) {
    const share = this.before ? easeInOut(clamp((now - this.before.begun) / (this.isCalm() ? 1 : CHANGE_MS))) : 1;
    const layout = this.layoutAt(this.progress);
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

  drawFlow(snapshot, layout, now) {
    const glows = this.glow ? 1 - (now - this.glow.begun) / GLOW_MS : 0;
    if (glows > 0) this.ask();
    this.picture.draw({
      snapshot, layout,
      progress: this.progress,
      hovered: this.hovered,
      largest: this.data.largest,
      words: this.model.keys,
      hasRest: Boolean(this.data.cut),
      titleOf: (row) => this.data.titles[this.model.places[row]] ?? "",
      isRandom: (row) => this.data.origins.S[this.model.places[row]] === "random",
      lane: this.data.crossed ? this.asking() : this.data.text.asks,
      asking: this.asking(),
      heads: this.data.heads,
      glow: glows > 0 ? { rows: this.glow.rows, strength: glows } : null,
      percent: spellPercent,
      fixed: spellNumber,
    });
  }

  drawMap({ frame }) {
    const isOpen = this.open && this.open.step === this.look.step;
    const { product } = this.data.steps[this.look.step];
    const [row, column] = isOpen ? [0, 0, ...this.open.index].slice(-2) : [];
    const matrixOf = ({ step, transposed, family }) => {
      const title = `${this.data.steps[step].label}${transposed ? "ᵀ" : ""}`;
      return { ...this.model.matrix(step, this.look, transposed), title, family };
    };
    this.map.draw({
      frame,
      result: this.opened > 0 ? this.model.matrix(this.look.step, this.look) : null,
      left: product && this.opened > 0 ? matrixOf(product.left) : null,
      above: product && this.opened > 0 ? matrixOf(product.above) : null,
      look: this.look,
      opened: easeInOut(this.opened),
      open: isOpen ? { row, height: this.open.height ?? OPEN_HEIGHT } : null,
      chosen: isOpen ? { row, column } : null,
      hovered: this.hoveredCell,
    });
    if (this.look.view === "map") this.drawStrip();
  }

  // The strip is made when it is first seen, and when another head or query is looked at.
  drawStrip() {
    const { head, query, step } = this.look;
    const shows = `${this.data.digest} ${head} ${query}`;
    if (shows !== this.stripShows) {
      const steps = this.data.strip.map((name) => ({ name, label: this.data.steps[name].label, moved: this.data.moved.includes(name), matrix: this.model.matrix(name, this.look) }));
      this.strip.show(this.data.text.steps, steps, this.data.palette);
      this.stripShows = shows;
    }
    this.strip.mark(step, this.data.steps[step].operation?.reads ?? []);
  }

  isCalm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  // Where nothing may move, playing goes from one stop's end to the next.
  play(now) {
    const { stops } = this.snapshot;
    const elapsed = now - (this.playing.last ?? now);
    this.playing.last = now;
    if (this.playing.rests > 0) {
      this.playing.rests -= elapsed;
      return;
    }
    const stop = Math.min(stops.length - 1, Math.floor(this.progress));
    const isCalm = this.isCalm();
    this.progress = isCalm ? stop + 1 : Math.min(stop + 1, this.progress + elapsed / lastsMs(stops[stop]));
    if (this.progress === stop + 1) this.playing.rests = isCalm ? CALM_STOP_MS : HOLD_MS;
    if (this.progress >= stops.length) this.playing = null;
  }

  togglePlay() {
    if (this.playing) this.playing = null;
    else {
      if (this.progress >= this.snapshot.stops.length) this.progress = 0;
      this.playing = {};
    }
    this.ask();
  }

  // To a stop, in so large a part of the time that it takes when it is played.
  glideTo(stop, share) {
    const target = clamp(stop, 0, this.snapshot.stops.length);
    const passed = this.snapshot.stops[Math.min(Math.floor(Math.min(target, this.progress)), this.snapshot.stops.length - 1)];
    if (this.isCalm()) {
      this.scrub(target);
      return;
    }
    this.playing = null;
    this.glide = { from: this.progress, target, begun: performance.now(), ms: share * lastsMs(passed) };
    this.ask();
  }

  followGlide(now) {
    const share = clamp((now - this.glide.begun) / this.glide.ms);
    this.progress = between(this.glide.from, this.glide.target, share);
    if (share >= 1) this.glide = null;
    this.ask();
  }

  scrub(progress) {
    this.glide = null;
    this.playing = null;
    this.progress = clamp(progress, 0, this.snapshot.stops.length);
    this.ask();
  }

  // ---- words ----------------------------------------------------------------------------------------------------------
  say({ shares }, now) {
    const best = largestOf(this.snapshot.shares, 0, shares.length);
    const fact = this.fact();
    const text = fact?.clear || this.isDragged ? fill(this.data.text.headline, {
      query: [this.asking(), "q"],
      key: [this.model.keys[best], "share"],
      percent: [spellPercent(shares[best]), "share"],
    }) : [[fact?.text ?? "…", "remark"]];
    const old = this.glow?.said && now - this.glow.begun < BEFORE_MS ? this.glow.said : "";
    if (old) {
      text.push([fill(this.data.text.before, { percent: [old, ""] }).map(([part]) => part).join(""), "before"]);
      this.ask();
    }
    write(this.headline, this.root.classList.contains("waits") ? [[this.data.text.waits, "remark"]] : text);
    setOnce(this.stage, "aria-label", `${fact?.text ?? this.headline.textContent} ${this.data.text.keys}`);
    const stop = this.snapshot.stops[Math.floor(this.progress)];
    const told = stop ? this.data.text.stops[stop.motion] : this.data.text.rest;
    write(this.caption, [[told, ""]]);
    write(this.heard, [[`${fact?.text ?? this.headline.textContent} ${stop ? told : ""}`, ""]]);
  }

  // What the row that is looked at does: of many rows the server tells it with the look.
  fact() {
    const { head, query } = this.look;
    const told = this.data.hears ? window.flowLook : null;
    const isOfLook = told?.head === head && told?.query === query && !this.isDragged;
    return this.data.facts[head]?.[query] ?? (isOfLook ? told.fact : null);
  }

  // ---- hands ----------------------------------------------------------------------------------------------------------
  // The server hears of looks when the hand rests, of all else at once.
  tell(name, value) {
    clearTimeout(this.resting);
    if (!this.data.hears) return;
    if (window.tellServer) window.tellServer(name, value);
    else window.addEventListener("flow-look", () => this.tell(name, value), { once: true }); // the channel comes
  }

  hover(means) {
    const row = means?.word ?? means?.row ?? means?.ribbon ?? null;
    const cell = means?.at ?? null;
    if (row === this.hovered && isSameCell(cell, this.hoveredCell)) return;
    this.hovered = row;
    this.hoveredCell = cell;
    this.ask();
  }

  // Up and down another word asks, Enter opens the sum of the largest share, left and right go along the stops.
  key(event) {
    if (event.target !== this.stage || event.altKey || event.ctrlKey || event.metaKey) return;
    const { query } = this.look;
    const last = this.data.words.T.length - 1;
    const { shares, share } = this.snapshot;
    const go = {
      ArrowUp: () => this.lookAt({ query: Math.max(0, query - 1) }),
      ArrowDown: () => this.lookAt({ query: Math.min(last, query + 1) }),
      Enter: () => this.unfold({ part: share.name, row: largestOf(shares, 0, shares.length), m: 0 }),
      m: () => this.lookAt({ view: this.look.view === "map" ? "flow" : "map" }),
    }[event.key];
    if (go) {
      event.preventDefault();
      go();
    } else this.bar.key(event);
  }

  pressed(means) {
    if (!means || this.held) return;
    if (this.model.places[means.word ?? means.row ?? means.ribbon ?? 0] === undefined) return; // all other words
    if (means.word !== undefined && !this.data.crossed) this.lookAt({ query: this.model.places[means.word] });
    if (means.query !== undefined) this.lookAt({ query: means.query });
    if (means.head !== undefined) this.lookAt({ view: "map", step: means.head });
    if (means.part !== undefined || means.cell) this.unfold(means);
    if (means.ribbon !== undefined) this.unfold({ part: this.snapshot.share.name, row: means.ribbon, m: 0 });
  }

  // Opens the sum of a cell in the gap under its row, or folds it.
  unfold(means) {
    if (!this.data.hears) return; // nobody writes the sum
    this.open = means && this.placeOfCell(means);
    this.sum.root.hidden = true;
    this.take();
    if (this.open && this.look.view === "map") this.look = { ...this.look, step: this.open.step };
    if (this.open) this.tell("opened", { step: this.open.step, index: this.open.index });
    else this.tell("looked", this.looked());
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

  // The server has written the sum of the cell that is open. One that the picture does not draw opens under the lane.
  fillSum({ step, cell, sum }) {
    this.open = { step, index: cell };
    this.sum.show(sum);
    this.sum.root.hidden = false;
    const wordWidth = this.layout?.frame.wordWidth ?? 120;
    this.open.height = this.sum.heightAt(this.root.clientWidth - wordWidth - 8);
  }

  lookAt(changes) {
    if (this.data.cut) {
      this.askFor(changes);
      return;
    }
    this.look = { ...this.look, ...changes };
    this.fold();
    this.glow = null;
    this.take();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.tell("looked", this.looked()), HAND_RESTS_MS);
  }

  // Of a large run the numbers of another look are not here. Its map stands under the picture, as the opened step.
  askFor({ query = this.look.query, head = this.look.head, view, step }) {
    const opened = step ?? (view === "map" ? this.share : view === "flow" ? null : window.flowLook?.step ?? null);
    this.tell("looked", { query, head, step: opened });
  }

  looked({ query, head, view, step } = this.look) {
    return { query, head, step: view === "map" ? step : null };
  }
}

// One of a few, in sight.
class Choice {
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    root.setAttribute("role", "group");
  }

  show(names, kinds) {
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

// ---- small things ------------------------------------------------------------------------------------------------------
const isSamePlace = (one, other) => one.step === other.step && String(one.index) === String(other.index);
const isSameCell = (one, other) => one?.row === other?.row && one?.column === other?.column;
const isSameWords = (one, other) => String(one.words.S) === String(other.words.S) && String(one.words.T) === String(other.words.T);
const isOther = (one, other) => one !== other && !(Math.abs(one - other) <= 1e-6 * Math.max(Math.abs(one), Math.abs(other)));
