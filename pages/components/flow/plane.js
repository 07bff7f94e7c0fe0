// Draws the plane view of a run: query, keys and values of one head as arrows and dots that can be dragged.
// The attention weights are between the panel of query and keys (left) and that of values and output (right).
// During a drag the browser computes the numbers (twin.js); the server gets the change when the drag ends.
import { added, addedShape, setAttributes, write } from "../dom.js";
import { filled } from "../printed.js";
import { hintOf } from "../touch.js";
import { isOther } from "./changes.js";
import { largestOf } from "./model.js";
import { between, clamp } from "./motion.js";
import { inPlane, planeOf, roundGap, spellRound } from "./plane_axes.js";
import { PlaneControls } from "./plane_controls.js";
import { PlaneGoals } from "./plane_goals.js";
import { PlaneHands } from "./plane_hands.js";
import { PlaneVectors } from "./plane_vectors.js";
import { Shapes } from "./shapes.js";
import { follow, lastOf, placeOf, sum } from "./twin.js";
import { quotedSign, shortened, spellNumber, spellPercent, textWidth } from "./words.js";

const PLANE_LAYERS = ["grounds", "lines", "ribbons", "dots", "texts", "handles"];
const PLANE_ROOM = 1.45; // range of a panel's axes, as a multiple of the length of its longest vector
const WIDE_PX = 640; // px: in a narrower picture, the panels are stacked
const LEAST_SIDE = 220; // px: least side of a panel
const BELOW = 20; // px: gap below the texts under the panels

export class PlaneView {
  constructor(root, flow) {
    this.root = root;
    this.flow = flow;
    this.change = { values: {}, params: {} };
    this.textsHeight = 0;
    this.fixed = new Map(); // run, "q", "k" or "v", head and query -> why the vectors cannot be dragged, or ""
    this.forget();
  }

  // Creates the elements of the plane view, when it is shown for the first time.
  make() {
    const { root } = this;
    /** @type {SVGSVGElement} */
    this.svg = addedShape(root, "svg");
    /** @type {Shapes} */
    this.shapes = new Shapes(this.svg, PLANE_LAYERS);
    /** @type {Shapes["put"]} */
    this.put = this.shapes.put.bind(this.shapes);
    /** @type {PlaneControls} */
    this.controls = new PlaneControls(added(root, "div", "axes"), (panel, axis, value) =>
      this.chooseAxis(panel, axis, value),
    );
    /** @type {HTMLElement} */
    this.follows = added(root, "p", "follows");
    /** @type {PlaneGoals} */
    this.goals = new PlaneGoals(added(root, "div", "goals"));
    /** @type {PlaneHands} */
    this.hands = new PlaneHands(this);
    const texts = new ResizeObserver(() => this.measureTexts());
    [this.controls.root, this.follows, this.goals.root].forEach((each) => texts.observe(each));
  }

  // Measures the height of the texts under the panels, in px. It never shrinks while words and query stay the same,
  // so that the panels keep their size when a text gets shorter.
  measureTexts() {
    const height = this.root.offsetHeight - this.svg.clientHeight;
    if (height <= this.textsHeight) return;
    this.textsHeight = height;
    this.flow.ask();
  }

  // ---- state --------------------------------------------------------------------------------------------------------
  // Draws the plane view, in which vectors are dragged, or hides it if another view is selected; called every frame.
  draw() {
    const { data, look } = this.flow;
    const isSeen = look.view === "plane";
    this.root.hidden = !isSeen;
    this.flow.stage.hidden = isSeen;
    if (!isSeen) return;
    if (!this.svg) this.make();
    this.flow.bar.root.hidden = this.flow.caption.hidden = true;
    this.take(data, look);
    this.place();
    this.shapes.begin();
    this.drawPanels();
    this.drawShares();
    this.hands.draw();
    this.shapes.end();
    this.tell();
  }

  // Takes over the numbers of this frame; if words, head or query changed, resets axes, ranges and selection.
  // A dragged change that the server has not answered yet is not overwritten.
  take(data, look) {
    if (this.digest !== data.digest) this.change = { values: {}, params: {}, ...this.flow.change };
    const place = `${data.words.S} ${data.words.T} ${look.batch} ${look.head} ${look.query}`;
    if (this.shownPlace !== place) this.forget();
    this.digest = data.digest;
    this.shownPlace = place;
    this.text = data.text.plane;
    this.data = data;
    this.look = look;
    /** @type {import("./model.js").Model} */
    this.model = this.flow.model;
    /** @type {PlaneVectors} */
    this.proven = new PlaneVectors(this.model, look, data.steps, data.plane.roles);
    /** @type {PlaneVectors} */
    this.vectors = new PlaneVectors(this.model, look, this.model.steps, data.plane.roles);
    this.shares = this.flow.snapshot.shares;
    this.blocked = this.flow.snapshot.blocked;
    this.best = largestOf(this.shares, 0, this.shares.length);
    this.temperature = this.parameterNow();
    /** @type {number[]} */
    this.output = this.outputNow();
    this.makePlanes();
    this.makeRanges();
  }

  // Resets axes, ranges and selection after the words, the head or the query have changed.
  forget() {
    /** @type {Record<string, number>} */
    this.ranges = {};
    /** @type {Record<string, string[]>} */
    this.axes = {};
    this.chosen = null;
    this.textsHeight = 0;
    /** @type {Record<string, number[][]>} */
    this.planes = {};
  }

  parameterNow() {
    const { step, parameter } = this.data.plane.temperature;
    return this.model.steps[step].operation?.params[parameter];
  }

  outputNow() {
    const mixed = this.data.parts.find((part) => part.mixes).name;
    const { shape, value } = this.model.steps[mixed];
    const first = placeOf(shape, [this.look.batch, this.look.head, this.look.query, 0]);
    return Array.from(value.subarray(first, first + lastOf(shape)));
  }

  // Computes the projection planes of keys and of values if they are missing; a drag does not change them.
  makePlanes() {
    for (const panel of ["k", "v"]) {
      const width = this.vectors.width(panel);
      this.axes[panel] ??= width > 2 ? this.usualAxes(panel) : ["0", "1"];
      this.planes[panel] ??= planeOf(this.axes[panel].map((axis) => this.direction(panel, axis, width)), width);
    }
  }

  // Returns the default axes of a panel, for vectors with more than two components.
  // The axes for keys are q and the key with the largest weight; those for values, the two values with the largest.
  usualAxes(panel) {
    if (panel === "k") return ["q", `k${this.best}`];
    const second = this.shares.reduce(
      (found, share, row) => (row !== this.best && (found < 0 || share > this.shares[found]) ? row : found),
      -1,
    );
    return [`v${this.best}`, second < 0 ? "0" : `v${second}`];
  }

  direction(panel, axis, width) {
    if (axis === "q") return this.vectors.vector("q", this.look.query);
    if (/^[kv]/.test(axis)) return this.vectors.vector(panel, Number(axis.slice(1)));
    return Array.from({ length: width }, (_, m) => Number(m === Number(axis)));
  }

  chooseAxis(panel, axis, value) {
    this.axes[panel] = this.axes[panel].map((old, i) => (i === axis ? value : old));
    delete this.planes[panel];
    delete this.ranges[panel];
    this.flow.ask();
  }

  // Computes the ranges of the panels, so that all points fit and are not too close together.
  makeRanges() {
    if (this.hands.held) return;
    const q = inPlane(this.vectors.vector("q", this.look.query), this.planes.k);
    this.ranges.k = this.fitted(this.ranges.k, [q, ...this.points("k")]);
    this.ranges.v = this.fitted(this.ranges.v, [inPlane(this.output, this.planes.v), ...this.points("v")]);
  }

  fitted(range, points) {
    const reach = Math.max(...points.map((point) => Math.hypot(...point))) || 1;
    return range && reach <= 0.92 * range && reach > 0.4 * range ? range : reach * PLANE_ROOM;
  }

  points(role) {
    return this.model.keys.map((_, place) => inPlane(this.vectors.vector(role, place), this.planes[role]));
  }

  // Restores the numbers of the run after the server has refused a dragged change.
  refuse() {
    this.change = { values: {}, params: {} };
    this.flow.change = null;
    this.flow.shown.forget();
    this.flow.take();
  }

  // ---- layout -------------------------------------------------------------------------------------------------------
  // On the workbench, the panels are no higher than the window leaves for them below the title.
  place() {
    const width = this.root.clientWidth;
    const unit = clamp(width / 1010, 0.8, 1.75);
    const isWide = width >= WIDE_PX;
    const title = 30 * unit;
    const middle = isWide ? Math.min(250 * unit, width * 0.215) : width;
    const free = this.data.hears ? this.flow.heightBelow - title - this.textsHeight - BELOW : Infinity;
    const most = Math.min((width - middle - 28 * unit) / 2, 420 * unit, Math.max(free, LEAST_SIDE));
    const side = isWide ? most : Math.min(width, 360);
    const between = 14 * unit;
    const rows = isWide ? side : Math.min(this.model.keys.length, 12) * 28;
    const left = isWide ? 0 : (width - side) / 2;
    const lower = title + side + between;
    const boxes = isWide
      ? { k: [0, title], shares: [side + between, title], v: [width - side, title] }
      : { k: [left, title], shares: [0, lower], v: [left, lower + rows + title] };
    const gap = isWide ? width - 2 * side - 2 * between : width;
    const height = isWide ? title + side : lower + rows + title + side;
    /** @type {number} */
    this.unit = unit;
    /** @type {number} */
    this.side = side;
    this.isWide = isWide;
    /** @type {Record<string, number[]>} */
    this.boxes = boxes;
    /** @type {{ width: number, height: number }} */
    this.sharesRoom = { width: gap, height: rows };
    setAttributes(this.svg, { width, height: height + 6, viewBox: `0 0 ${width} ${height + 6}` });
  }

  /**
   * Converts a point of a panel to pixels of the drawing.
   * @param {string} panel
   * @param {number[]} point
   */
  toScreen(panel, [x, y]) {
    const [left, top] = this.boxes[panel];
    const scale = this.side / 2 / this.ranges[panel];
    return [left + this.side / 2 + x * scale, top + this.side / 2 - y * scale];
  }

  toPlane(panel, [x, y]) {
    const [left, top] = this.boxes[panel];
    const scale = this.side / 2 / this.ranges[panel];
    const limit = 0.98 * this.ranges[panel];
    const digits = 10 ** Math.max(0, 2 - Math.floor(Math.log10(this.ranges[panel])));
    const rounded = (number) => Math.round(clamp(number, -limit, limit) * digits) / digits;
    return [rounded((x - left - this.side / 2) / scale), rounded((top + this.side / 2 - y) / scale)];
  }

  // ---- panels -------------------------------------------------------------------------------------------------------
  drawPanels() {
    for (const panel of ["k", "v"]) this.drawGround(panel);
    this.drawScoreLines();
    this.drawVectors("k");
    this.drawVectors("v");
    this.drawOutput();
    this.drawQuery();
  }

  drawGround(panel) {
    const [x, y] = this.boxes[panel];
    const { side, unit } = this;
    this.put("grounds", "rect", panel, { x, y, width: side, height: side, rx: 14 * unit, class: "ground" });
    this.put("grounds", "path", `cross ${panel}`, {
      d: `M${x + side / 2},${y + 6}V${y + side - 6}M${x + 6},${y + side / 2}H${x + side - 6}`, class: "cross",
    });
    this.put("texts", "text", `title ${panel}`, {
      x, y: y - 15 * unit, "font-size": Math.max(15, 16 * unit), class: "planetitle",
      text: this.text[panel === "k" ? "keys" : "values"],
    });
    if (panel === "v" || !this.data.plane.is_product) return;
    this.put("texts", "text", "lines", {
      x: x + side, y: y - 15 * unit, "font-size": 13, class: "end scorename", text: this.text.lines,
    });
  }

  // Draws lines of equal score, which are at right angles to q, if the score is the dot product of q and k.
  drawScoreLines() {
    if (!this.data.plane.is_product) return;
    const q = inPlane(this.vectors.vector("q", this.look.query), this.planes.k);
    const length = Math.hypot(...q);
    if (length < 1e-9) return;
    const range = this.ranges.k;
    const gap = roundGap((length * range) / 3);
    const along = [q[0] / length, q[1] / length];
    for (let step = -6; step <= 6; step++) {
      const away = (step * gap) / length;
      const ends = insideSquare(along, away, range);
      if (!ends) continue;
      const [from, to] = ends.map((end) => this.toScreen("k", end));
      this.put("lines", "path", `score ${step}`, {
        d: `M${from}L${to}`, class: step ? "scoreline" : "scoreline none",
      });
      const [x, y] = from[1] > to[1] ? from : to;
      const [left, top] = this.boxes.k;
      const at = {
        x: clamp(x, left + 18, left + this.side - 18), y: clamp(y, top + 10, top + this.side - 10), "font-size": 12.5,
      };
      if (boxesOverlap(this.box([at.x, at.y], 10), this.box(this.tip(), 34))) continue;
      this.put("texts", "text", `score ${step}`, {
        ...at, class: "middle scorename", text: spellRound(step * gap),
      });
    }
  }

  // Returns groups of words at the same point, which are drawn as one dot with all their names.
  groups(role) {
    const found = new Map();
    this.points(role).forEach((point, place) => {
      const key = point.map((number) => number.toFixed(6).replace("-0.000000", "0.000000")).join();
      found.set(key, [...(found.get(key) ?? []), place]);
    });
    return [...found.values()];
  }

  drawVectors(role) {
    const taken = role === "k" ? this.queryBoxes() : [this.box(this.outputPoint(), 16), this.outputName().box];
    const origin = this.toScreen(role, [0, 0]);
    const points = this.points(role).map((point) => this.toScreen(role, point));
    const groups = this.groups(role).map((places) => ({
      places,
      share: sum(places.length, (i) => this.shares[places[i]]),
    }));
    groups.sort((one, other) => other.share - one.share);
    const radius = (share) => (5 + 9 * Math.sqrt(share)) * this.unit;
    for (const { places, share } of groups) taken.push(this.box(points[places[0]], radius(share)));
    for (const { places, share } of groups) {
      const [x, y] = points[places[0]];
      const isShut = places.every((place) => this.blocked[place]);
      const isRandom = places.some((place) => this.data.origins.S[place] === "random");
      if (role === "k")
        this.put("lines", "path", `arm ${places[0]}`, {
          d: `M${origin}L${x},${y}`, class: "arm k", opacity: isShut ? 0.25 : 0.6,
        });
      const look = `dot ${role}${isShut ? " shut" : ""}${isRandom ? " random" : ""}`;
      this.put("dots", "circle", `${role} ${places[0]}`, { cx: x, cy: y, r: radius(share), class: look });
      this.drawName(role, places, [x, y], radius(share), taken, isShut);
    }
  }

  // Draws the name of a dot where it covers least of the drawing.
  // If there are many words, a name for which no space is free is omitted.
  drawName(role, places, [x, y], radius, taken, isShut) {
    const size = (this.model.keys.length > 12 ? 14 : 19) * Math.max(this.unit, 0.85);
    const words = [...new Set(places.map((place) => quotedSign(this.model.keys[place])))];
    const text = words.length > 4 ? `${words.slice(0, 3).join(", ")} +${words.length - 3}` : words.join(", ");
    const [width, [left, top]] = [textWidth(text, size, 600), this.boxes[role]];
    const gap = radius + 5;
    const spots = [
      [gap, 0], [-gap - width, 0], [-width / 2, -gap - size / 2], [-width / 2, gap + size / 2], [gap * 0.7, -gap],
      [gap * 0.7, gap], [-gap * 0.7 - width, -gap], [-gap * 0.7 - width, gap],
    ];
    const boxes = spots.map(([dx, dy]) => ({
      left: x + dx, right: x + dx + width, top: y + dy - size / 2, bottom: y + dy + size / 2,
    }));
    const cost = (box) =>
      taken.filter((other) => boxesOverlap(box, other)).length +
      3 * Number(box.left < left || box.right > left + this.side || box.top < top || box.bottom > top + this.side);
    const best = boxes.reduce((found, box) => (cost(box) < cost(found) ? box : found));
    if (this.model.keys.length > 24 && cost(best) > 0 && !places.includes(this.best)) return;
    taken.push(best);
    const at = { x: best.left, y: (best.top + best.bottom) / 2, "font-size": size, opacity: isShut ? 0.45 : 1 };
    this.put("texts", "text", `${role} ${places[0]}`, { ...at, class: `planeword ${role}`, text });
  }

  /**
   * The square around a point of the drawing.
   * @param {number[]} point
   * @param {number} radius
   */
  box([x, y], radius) {
    return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
  }

  tip() {
    return this.toScreen("k", inPlane(this.vectors.vector("q", this.look.query), this.planes.k));
  }

  // Returns the arrow of the query in the drawing: its ends, length and direction.
  arrow() {
    const [from, to] = [this.toScreen("k", [0, 0]), this.tip()];
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const [dx, dy] = length > 1 ? [(to[0] - from[0]) / length, (to[1] - from[1]) / length] : [0, -1];
    return { from, to, length, dx, dy };
  }

  drawQuery() {
    const { from, to, length, dx, dy } = this.arrow();
    const head = 15 * this.unit;
    const base = [to[0] - dx * head, to[1] - dy * head];
    const width = head * 0.55;
    if (length > head) this.put("lines", "path", "query", { d: `M${from}L${base}`, class: "queryarm" });
    this.put("dots", "path", "query", {
      d: `M${to}L${base[0] - dy * width},${base[1] + dx * width}L${base[0] + dy * width},${base[1] - dx * width}Z`,
      class: "querytip",
    });
    const { x, y, size } = this.queryName();
    this.put("texts", "text", "query", {
      x, y, "font-size": size, class: "planeword q middle", text: this.flow.asking,
    });
  }

  // Returns the position, font size and box of the query's word, which is drawn beyond the tip of the query's arrow.
  queryName() {
    const { to, dx, dy } = this.arrow();
    const size = 22 * this.unit;
    const half = textWidth(this.flow.asking, size, 700) / 2;
    const away = 14 * this.unit + Math.abs(dx) * half;
    const [left, top] = this.boxes.k;
    const x = clamp(to[0] + dx * away, left + half + 4, left + this.side - half - 4);
    const y = clamp(to[1] + dy * away, top + 12, top + this.side - 12);
    return { x, y, size, box: { left: x - half, right: x + half, top: y - size / 2, bottom: y + size / 2 } };
  }

  // Returns the boxes that the query's arrow, the query's word and the handle of the temperature cover.
  queryBoxes() {
    const { from, to } = this.arrow();
    const arm = Array.from({ length: 12 }, (_, i) =>
      this.box([between(from[0], to[0], i / 12), between(from[1], to[1], i / 12)], 5),
    );
    const { knob, name } = this.hands.knobBoxes();
    return [...arm, this.box(to, 14), this.queryName().box, knob, name];
  }

  outputPoint() {
    return this.toScreen("v", inPlane(this.output, this.planes.v));
  }

  outputName() {
    const [x, y] = this.outputPoint();
    const size = 20 * this.unit;
    const half = textWidth(`${this.flow.asking}′`, size, 700) / 2;
    const middle = y + (y - this.boxes.v[1] > 44 ? -1 : 1) * 25 * this.unit;
    return {
      x, y: middle, size, box: { left: x - half, right: x + half, top: middle - size / 2, bottom: middle + size / 2 },
    };
  }

  // Draws the output, the weighted mean of the values, with a line to each value as thick as its attention weight.
  drawOutput() {
    const [x, y] = this.outputPoint();
    this.points("v").forEach((point, place) => {
      const share = this.shares[place];
      if (share < 0.001) return;
      const [fromX, fromY] = this.toScreen("v", point);
      this.put("ribbons", "path", `pull ${place}`, {
        d: `M${fromX},${fromY}L${x},${y}`, class: "pull", "stroke-width": 1 + 26 * this.unit * share,
        opacity: 0.25 + 0.45 * share,
      });
    });
    this.put("dots", "circle", "output", { cx: x, cy: y, r: 13 * this.unit, class: "outdot" });
    this.put("dots", "circle", "output core", { cx: x, cy: y, r: 4 * this.unit, class: "outcore" });
    const name = this.outputName();
    this.put("texts", "text", "output", {
      x: name.x, y: name.y, "font-size": name.size, class: "planeword q middle", text: `${this.flow.asking}′`,
    });
  }

  // ---- shares -------------------------------------------------------------------------------------------------------
  // Draws, between the panels, a bar for each key's attention weight.
  // If not all bars fit, only those of the largest weights are drawn.
  drawShares() {
    const [x, y] = this.boxes.shares;
    const { width, height } = this.sharesRoom;
    const tallest = 40 * this.unit;
    const count = this.model.keys.length;
    const fitting = Math.min(count, Math.max(1, Math.floor(height / 22)));
    const order = this.model.keys.map((_, place) => place);
    if (fitting < count) order.sort((one, other) => this.shares[other] - this.shares[one]);
    const shown = order.slice(0, fitting).sort((one, other) => one - other);
    const tall = Math.min(tallest, height / fitting);
    const top = y + (height - tall * fitting) / 2;
    const size = Math.min(19 * this.unit, tall * 0.62);
    const longest = Math.max(...shown.map((place) => textWidth(quotedSign(this.model.keys[place]), size, 600)));
    const wordWidth = Math.min(longest + 10, width * 0.42);
    const room = width - wordWidth;
    this.put("texts", "text", "title shares", {
      x: x + wordWidth, y: this.isWide ? this.boxes.k[1] - 15 * this.unit : y - 4,
      "font-size": Math.max(15, 16 * this.unit), class: "planetitle share", text: this.isWide ? this.text.shares : "",
    });
    shown.forEach((place, row) => {
      const [middle, share] = [top + (row + 0.5) * tall, this.shares[place]];
      const isShut = this.blocked[place];
      const isChosen = this.chosen === place;
      const name = {
        x: x + wordWidth - 8, y: middle, "font-size": size, class: `end planeword${isChosen ? " chosenword" : ""}`,
        text: shortened(quotedSign(this.model.keys[place]), wordWidth, size), opacity: isShut ? 0.45 : 1,
      };
      const rail = { x: x + wordWidth, y: middle - tall * 0.3, width: room, height: tall * 0.6, rx: 4 };
      const bar = { ...rail, width: Math.max(1, room * share), class: "share" };
      this.put("texts", "text", `word ${place}`, name, { place });
      this.put("ribbons", "rect", `rail ${place}`, { ...rail, class: isShut ? "shut" : "sharerail" }, { place });
      if (share > 0) this.put("ribbons", "rect", `bar ${place}`, bar, { place });
      const said = isShut ? "–" : spellPercent(share);
      const fits = room * (1 - share) > textWidth(said, size, 700) + 10;
      const at = {
        x: x + wordWidth + room * share + (fits ? 5 : -5), y: middle, "font-size": size,
        class: `percent${fits ? "" : " inside end"}`,
      };
      this.put("texts", "text", `share ${place}`, { ...at, text: said });
    });
  }

  // ---- texts --------------------------------------------------------------------------------------------------------
  tell() {
    this.controls.show(this);
    this.goals.show(this);
    write(this.follows, this.spellChange());
  }

  // Returns the texts about the matrix rows that a drag has changed; without a drag, a hint.
  spellChange() {
    const moved = Object.keys(this.change.values);
    if (!moved.length) return [[this.hintNow(), ""]];
    const said = moved.map((name, i) => {
      const role = ["q", "k", "v"].find((each) => this.data.plane.roles[each].weight === name || each === name);
      const sign = role === name ? name : name.replace(/^w_/, "W_");
      return [[i ? " · " : "", ""], [`${sign} `, `sign ${role}`], ...this.spellRows(name, role)];
    });
    return [[`${this.text.follows} `, ""], ...said.flat()];
  }

  spellRows(name, role) {
    const [old, now] = [this.data.steps[name], this.model.steps[name]];
    const columns = this.vectors.width(role);
    const [rows, wide] = [old.shape.at(-2), old.shape.at(-1)];
    const firstColumn = role === name ? 0 : this.vectors.head(role) * columns;
    const firstRow = role === name ? placeOf(old.shape.slice(0, 2), [0, this.vectors.head(role)]) * rows : 0;
    const names = role === name ? this.model.keys : this.model.names(old.dims[0], rows);
    const changed = [];
    for (let row = 0; row < rows; row++) {
      const first = (firstRow + row) * wide + firstColumn;
      const numbers = Array.from(now.value.subarray(first, first + columns));
      if (numbers.some((number, m) => isOther(old.value[first + m], number))) changed.push([names[row], numbers]);
    }
    const words = changed.slice(0, 6).map(([word]) => word);
    if (columns > 4) return [[filled(this.text.rows, { rows: words.join(", ") }), ""]];
    return changed.slice(0, 4).flatMap(([word, numbers]) => [
      [`${word} `, "aside"],
      [`[${numbers.map(spellNumber).join(", ")}] `, ""],
    ]);
  }

  hintNow() {
    const whys = ["q", "k", "v"].map((role) => [role, this.whyFixed(role)]).filter(([, why]) => why);
    if (!whys.length) return hintOf(this.text, "hint");
    const free = ["q", "k", "v", "T"].filter((role) => whys.every(([fixed]) => fixed !== role));
    const distinct = [...new Set(whys.map(([, why]) => why))];
    const rolesOf = (why) => whys.filter(([, other]) => other === why).map(([role]) => role);
    const said = distinct.map((why) => `${rolesOf(why).join(", ")}: ${why}`);
    return [filled(this.text.hint_some, { what: free.join(", ") }), ...said].join(" ");
  }

  // Returns why the queries, keys or values (role "q", "k" or "v") cannot be dragged; "" if they can be dragged.
  whyFixed(role) {
    const known = `${this.digest} ${role} ${this.look.head} ${this.look.query}`;
    if (!this.fixed.has(known)) {
      if (this.fixed.size > 200) this.fixed.clear();
      this.fixed.set(known, this.findWhyFixed(role));
    }
    return this.fixed.get(known);
  }

  findWhyFixed(role) {
    const { why, weight } = this.data.plane.roles[role];
    if (why) return why;
    const name = weight ?? role;
    const { waiting } = follow(
      this.data.steps,
      { values: { [name]: this.data.steps[name].value } },
      { query: this.look.query },
    );
    const ends = this.data.parts.filter((part) => part.mixes || part.is_share);
    return ends.some((part) => waiting.has(part.name)) ? this.text.waits : "";
  }
}

// ---- geometry -------------------------------------------------------------------------------------------------------
/** @typedef {{ left: number, right: number, top: number, bottom: number }} Box */
/** @type {(one: Box, other: Box) => boolean} */
export const boxesOverlap = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// Returns the two points where the line {p: along . p = away} crosses the square from -reach to reach; null if none.
/** @type {(along: number[], away: number, reach: number) => number[][] | null} */
function insideSquare([alongX, alongY], away, reach) {
  const [fromX, fromY] = [alongX * away, alongY * away];
  let [least, most] = [-Infinity, Infinity];
  for (const [start, slope] of [[fromX, -alongY], [fromY, alongX]]) {
    if (Math.abs(slope) < 1e-9) {
      if (Math.abs(start) > reach) return null;
      continue;
    }
    const ends = [(-reach - start) / slope, (reach - start) / slope].sort((one, other) => one - other);
    [least, most] = [Math.max(least, ends[0]), Math.min(most, ends[1])];
  }
  if (least >= most) return null;
  return [least, most].map((t) => [fromX - alongY * t, fromY + alongX * t]);
}
