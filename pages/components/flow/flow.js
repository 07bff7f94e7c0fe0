// The flow of one query through a layer: it is looked at, played and dragged back in the browser; the server hears of what
// is looked at when the hand rests.
const STOP_MS = { ask: 2000, match: 3400, meet: 3000, scale: 1200, add: 1800, mask: 1300, power: 1700, share: 3200, gather: 2300, merge: 900, output: 900 };
const USUAL_STOP_MS = 1400;
const REST_MS = 450; // between two stops, while it plays
const OPEN_HEIGHT = 88; // px: the room for a sum of which nothing is known yet
const CHANGE_MS = 420; // numbers and places, from one state to the next

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".flow");
  const flow = (root.flow ??= new Flow(root));
  flow.show(withNumbers(unpacked(data)), setTriggerValue);
}

// The data with each step's own numbers.
function withNumbers(data) {
  const numbers = new Float32Array(data.numbers.buffer, data.numbers.byteOffset, data.numbers.length / 4);
  for (const step of Object.values(data.steps)) {
    const count = step.shape.reduce((one, other) => one * other, 1);
    step.value = numbers.subarray(step.first, step.first + count);
  }
  return data;
}

class Flow {
  constructor(root) {
    this.root = root;
    const top = added(root, "div", "top");
    this.headline = added(top, "p", "headline");
    this.views = new Choice(added(top, "div", "views"), (view) => this.lookAt({ view }));
    this.sliders = new Sliders(added(root, "div", "sliders"), {
      drag: (slider, value) => this.drag(slider, value),
      release: (slider, value) => this.trigger("changed", { field: slider.field, value }),
    });
    this.rail = new Rail(added(root, "div", "rail"), (head) => this.lookAt({ head }));
    this.stage = added(root, "div", "stage");
    this.svg = this.stage.appendChild(document.createElementNS(SVG, "svg"));
    this.sum = new SumPanel(added(this.stage, "div", "panel"), {
      follow: (cell) => this.trigger("followed", cell),
      close: () => this.unfold(null),
    });
    this.open = null; // the cell whose sum is unfolded: { row, step, index }
    this.caption = added(root, "p", "caption");
    this.caption.setAttribute("aria-live", "polite");
    this.bar = new StopsBar(added(root, "div", "bar"), this);
    this.flowGroup = this.svg.appendChild(document.createElementNS(SVG, "g"));
    this.picture = new Picture(this.flowGroup);
    this.map = new MapView(this.svg);
    this.opened = 0; // how far the map is open
    this.hovered = null;
    this.progress = Infinity;
    this.frame = null;
    this.listen();
  }

  listen() {
    this.svg.addEventListener("click", (event) => this.pressed(event.target.means));
    this.svg.addEventListener("pointerover", (event) => this.hover(event.target.means));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    Object.assign(this.stage, { tabIndex: 0, role: "group" });
    this.stage.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("unfolded", ({ detail }) => this.fillSum(detail));
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.open && this.unfold(null));
    new ResizeObserver(() => this.resized()).observe(this.root);
    document.fonts.ready.then(() => this.resized()); // words are measured
  }

  // ---- data -----------------------------------------------------------------------------------------------------------
  show(data, trigger) {
    this.trigger = trigger;
    if (data.digest === this.data?.digest) return;
    const before = this.snapshot;
    this.data = data;
    this.model = new Model(data);
    this.look = { ...data.look, view: this.look?.view ?? "flow" };
    for (const [name, colour] of Object.entries(data.palette)) this.root.style.setProperty(`--${name}`, colour);
    const keys = data.words.S.length;
    this.views.show(data.text.views, ["flow", "map"]);
    this.sliders.show(data.sliders);
    this.rail.show(data.head_names, data.words.T.length, keys, (head) => this.weightsOf(head), data.palette.share);
    this.bar.show(data.text);
    this.take(before);
    this.fillSum(window.unfolded);
  }

  // A head's shares, row by row; blocked ones are 0.
  weightsOf(head) {
    const share = this.data.parts.find((part) => part.is_share);
    const { shape, value } = this.data.steps[share.name];
    const count = this.data.words.T.length * this.data.words.S.length;
    const first = placeOf(shape.slice(0, 2), [this.look.batch, head]) * count;
    return value.subarray(first, first + count);
  }

  // Which pairs of a head no share can come of, row by row.
  blockedOf(head) {
    const share = this.data.parts.find((part) => part.is_share);
    const { shape, value } = this.data.steps[share.reads[0]];
    const count = this.data.words.T.length * this.data.words.S.length;
    const first = placeOf(shape.slice(0, 2), [this.look.batch, head]) * count;
    return Array.from(value.subarray(first, first + count), (score) => score === -Infinity);
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

  // A hand drags: the twin answers in the same frame, for the query that is looked at.
  drag({ step, parameter }, value) {
    const params = { [step]: { [parameter]: value } };
    const { steps, waiting } = follow(this.data.steps, { params }, [this.look.query]);
    this.root.classList.toggle("waits", waiting.size > 0);
    this.snapshot = this.model.snapshot(this.look, steps);
    this.progress = Math.min(this.progress, this.snapshot.stops.length);
    this.before = null;
    this.isDragged = true;
    this.arrange();
    this.ask();
  }

  resized() {
    if (!this.snapshot) return;
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
    const common = {
      width, height, unit, compact,
      crossed: this.data.crossed,
      open: this.open && { row: this.open.row, height: this.open.height ?? OPEN_HEIGHT },
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
    return (this.data.crossed ? this.data.words.T : this.data.words.S)[this.look.query];
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
    if (this.playing) this.play(now);
    if (this.glide) this.followGlide(now);
    const share = this.before ? easeInOut(clamp((now - this.before.begun) / (this.isCalm() ? 1 : CHANGE_MS))) : 1;
    let [snapshot, layout] = [this.snapshot, this.layoutAt(this.progress)];
    if (share < 1) {
      const { before } = this;
      const numbers = {};
      for (const name of Object.keys(snapshot.numbers)) numbers[name] = blendArrays(before.numbers[name], snapshot.numbers[name], share);
      snapshot = { ...snapshot, numbers, shares: blendArrays(before.shares, snapshot.shares, share) };
      layout = blendLayouts(before.layout, layout, share);
      this.ask();
    } else this.before = null;
    this.layout = layout;
    this.picture.draw({
      snapshot, layout,
      progress: this.progress,
      hovered: this.hovered,
      largest: this.data.largest,
      words: this.model.keys,
      lane: this.data.crossed ? this.asking() : this.data.text.asks,
      asking: this.asking(),
      heads: this.data.heads,
      percent: (share) => spellPercent(share),
      fixed: (number) => spellNumber(number),
    });
    const target = Number(this.look.view === "map");
    this.opened = this.isCalm() ? target : this.opened + clamp(target - this.opened, -0.04, 0.04);
    if (this.opened !== target) this.ask();
    this.flowGroup.style.opacity = clamp(1 - this.opened * 1.6);
    this.flowGroup.style.pointerEvents = this.opened > 0.5 ? "none" : "";
    this.map.draw({
      frame: layout.frame,
      weights: this.weightsOf(this.look.head),
      blocked: this.blockedOf(this.look.head),
      queries: this.data.words.T,
      keys: this.data.words.S,
      look: this.look,
      opened: easeInOut(this.opened),
      percent: spellPercent,
    });
    if (this.open) this.sum.place(layout.openY, layout.openHeight, layout.frame.wordWidth + 8);
    this.rail.mark(this.look.head);
    this.views.mark(this.look.view);
    this.tell(snapshot);
    this.bar.draw(this.snapshot.stops, this.progress);
    if (this.playing) this.ask();
  }

  isCalm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  play(now) {
    const { stops } = this.snapshot;
    const elapsed = now - (this.playing.last ?? now);
    this.playing.last = now;
    if (this.playing.rests > 0) {
      this.playing.rests -= elapsed;
      return;
    }
    const stop = Math.min(stops.length - 1, Math.floor(this.progress));
    const next = Math.min(stop + 1, this.progress + elapsed / (STOP_MS[stops[stop].motion] ?? USUAL_STOP_MS));
    this.progress = next;
    if (next === stop + 1) this.playing.rests = REST_MS;
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
    this.glide = { from: this.progress, target, begun: performance.now(), ms: share * (STOP_MS[passed.motion] ?? USUAL_STOP_MS) };
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
  tell({ shares }) {
    const best = largestOf(shares, 0, shares.length);
    const remark = !this.isDragged && this.data.remarks[this.look.head]?.[this.look.query];
    const text = remark ? [[remark, "remark"]] : fill(this.data.text.headline, {
      query: [this.asking(), "q"],
      key: [this.model.keys[best], "share"],
      percent: [spellPercent(shares[best]), "share"],
    });
    write(this.headline, text);
    setOnce(this.stage, "aria-label", `${this.headline.textContent}. ${this.data.text.keys}`);
    const stop = this.snapshot.stops[Math.floor(this.progress)];
    write(this.caption, [[stop ? this.data.text.stops[stop.motion] : this.data.text.rest, ""]]);
  }

  // ---- hands ----------------------------------------------------------------------------------------------------------
  hover(means) {
    const row = means?.word ?? means?.row ?? means?.ribbon ?? null;
    if (row === this.hovered) return;
    this.hovered = row;
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
    }[event.key];
    if (go) {
      event.preventDefault();
      go();
    } else this.bar.key(event);
  }

  pressed(means) {
    if (!means) return;
    if (means.word !== undefined && !this.data.crossed) this.lookAt({ query: means.word });
    if (means.query !== undefined) this.lookAt({ query: means.query });
    if (means.part !== undefined) this.unfold(means);
    if (means.ribbon !== undefined) this.unfold({ part: this.snapshot.share.name, row: means.ribbon, m: 0 });
  }

  // Opens the sum of a cell in the gap under its row, or folds it.
  unfold(means) {
    const part = means && this.model.parts.get(means.part);
    this.open = part && { row: part.role === "lane" ? "lane" : means.row, step: part.name, index: this.model.indexOf(part, this.look, means.row, means.m) };
    this.sum.root.hidden = true;
    this.take();
    this.trigger("opened", this.open ? { step: this.open.step, index: this.open.index } : null);
  }

  // The server has written the sum of the cell that is open. One that was opened elsewhere opens under the query's lane.
  fillSum(data) {
    if (!this.data || !data) return;
    if (!data.step) {
      if (this.open) [this.open, this.sum.root.hidden] = [null, true];
      this.take();
      return;
    }
    const row = this.open ? this.open.row : this.rowOf(data);
    this.open = { row, step: data.step, index: data.index };
    this.sum.show(data);
    this.sum.root.hidden = false;
    this.open.height = this.sum.heightAt(this.root.clientWidth - this.layout.frame.wordWidth - 8);
    this.take();
  }

  rowOf({ step, index }) {
    const part = this.model.parts.get(step);
    if (!part || part.role === "lane") return "lane";
    const { dims } = this.model.step(step);
    const axis = dims.indexOf(part.role === "row" && !dims.includes("S") ? "T" : "S");
    return index[axis];
  }

  lookAt(changes) {
    this.look = { ...this.look, ...changes };
    if (this.open && changes.view === undefined) [this.open, this.sum.root.hidden] = [null, true];
    this.take();
    this.trigger?.("looked", this.look);
  }
}

// The stops as a bar that is dragged: one segment a stop, as long as it lasts.
class StopsBar {
  constructor(root, flow) {
    this.root = root;
    this.flow = flow;
    this.button = added(root, "button", "play");
    this.button.onclick = () => flow.togglePlay();
    this.track = added(root, "div", "track");
    this.knob = added(this.track, "div", "knob");
    this.track.addEventListener("pointerdown", (event) => {
      this.track.setPointerCapture(event.pointerId);
      this.moved(event);
    });
    this.track.addEventListener("pointermove", (event) => event.buttons && this.moved(event));
    Object.assign(this.track, { tabIndex: 0, role: "slider" });
    this.track.addEventListener("keydown", (event) => this.key(event));
  }

  // Arrows go by one stop, the space bar plays.
  key(event) {
    const { flow } = this;
    const count = flow.snapshot.stops.length;
    const go = {
      ArrowRight: () => flow.glideTo(Math.floor(flow.progress + 1e-6) + 1, 0.75),
      ArrowLeft: () => flow.glideTo(Math.ceil(flow.progress - 1e-6) - 1, 0.3),
      Home: () => flow.scrub(0),
      End: () => flow.scrub(count),
      " ": () => flow.togglePlay(),
    }[event.key];
    if (!go || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go();
  }

  show(text) {
    this.text = text;
  }

  // The segments are as long as their stops last.
  segments(stops) {
    const times = stops.map((stop) => STOP_MS[stop.motion] ?? USUAL_STOP_MS);
    const total = times.reduce((one, other) => one + other, 0);
    let start = 0;
    return times.map((time) => {
      const segment = { start, length: time / total };
      start += segment.length;
      return segment;
    });
  }

  moved(event) {
    const box = this.track.getBoundingClientRect();
    const share = clamp((event.clientX - box.left) / box.width);
    const segments = this.segments(this.flow.snapshot.stops);
    const stop = Math.max(0, segments.findLastIndex((segment) => share >= segment.start));
    this.flow.scrub(stop + (share - segments[stop].start) / segments[stop].length);
  }

  draw(stops, progress) {
    const segments = this.segments(stops);
    const names = stops.map((stop) => stop.motion).join(" ");
    if (names !== this.names) {
      this.names = names;
      this.track.replaceChildren(this.knob);
      this.made = segments.map((segment, i) => {
        const element = added(this.track, "div", "segment");
        element.style.left = `${100 * segment.start}%`;
        element.style.width = `calc(${100 * segment.length}% - 4px)`;
        element.append(Object.assign(document.createElement("span"), { className: "done" }));
        const label = added(element, "span", "label");
        label.textContent = this.text.names[stops[i].motion] ?? stops[i].motion;
        return element;
      });
    }
    this.made.forEach((element, i) => {
      element.firstChild.style.width = `${100 * clamp(progress - i)}%`;
      element.classList.toggle("current", progress >= i && progress < i + 1);
    });
    const stop = Math.min(stops.length - 1, Math.floor(progress));
    this.knob.style.left = `${100 * (segments[stop].start + segments[stop].length * clamp(progress - stop))}%`;
    const isPlaying = Boolean(this.flow.playing);
    this.button.classList.toggle("playing", isPlaying);
    this.button.setAttribute("aria-label", isPlaying ? this.text.pause : this.text.play);
    const said = { label: this.text.bar, valuemin: 0, valuemax: stops.length, valuenow: Math.round(10 * progress) / 10, valuetext: this.flow.caption.textContent };
    for (const [name, value] of Object.entries(said)) setOnce(this.track, `aria-${name}`, String(value));
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
    this.kinds.forEach((kind, i) => this.root.children[i].setAttribute("aria-pressed", String(kind === chosen)));
  }
}

// ---- small things ------------------------------------------------------------------------------------------------------
function added(parent, kind, name) {
  const element = document.createElement(kind);
  element.className = name;
  return parent.appendChild(element);
}

// A template with its parts: [text, class] pairs; a part is { name } in the template.
function fill(template, parts) {
  return template.split(/(\{\w+\})/).map((text) => parts[text.slice(1, -1)] ?? [text, ""]);
}

function setOnce(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

// Texts into an element, each in its colour; nothing is touched that says the same already.
function write(element, texts) {
  const said = JSON.stringify(texts);
  if (element.said === said) return;
  element.said = said;
  element.replaceChildren(...texts.map(([text, look]) => Object.assign(document.createElement("span"), { textContent: text, className: look })));
}

function spellPercent(share) {
  if (share >= 0.995 && share < 1) return ">99 %";
  if (share > 0 && share < 0.005) return "<1 %";
  return `${Math.round(100 * share)} %`;
}

function spellNumber(number) {
  return number.toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", "−");
}

let measuring;
function textWidth(text, size, weight = 400) {
  measuring ??= document.createElement("canvas").getContext("2d");
  measuring.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return measuring.measureText(text).width;
}
