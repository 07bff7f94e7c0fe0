// Draws a picture that follows sliders, with one drawing ("frame") for each position of the sliders.
// The data have the field `packed`: bytes that unpacked() turns into the fields of Sliders (position.js) and these:
// alt, width, height, ink, faint: text, size and colours of the picture. fills: whether cells take the full width.
// x, y: the axes of curves; null if the picture has cells, whose coordinates are in pixels.
// names: width in px for the names after the curves. waits: the text that is shown while data are missing.
// rows: the JSON bytes of { usual, fixed, frames }. fixed: the table rows that every frame has.
// frames: the table rows of each position; null if its data are missing. A row omits fields that `usual` has.
import { svgShape } from "../dom.js";
import { unpacked } from "../pixels.js";
import { followSlider } from "./position.js";

const ROOM = { left: 66, right: 16, top: 34, bottom: 52 }; // px: margins around the curves
const NAME_PX = 14;
const LEAST_PX = 320; // px: least width of the drawing; a narrower element scrolls
const TICK_PX = 28; // px: least distance between two labels along the x axis

/** @param {import("../shared.js").Component<Uint8Array>} component data: packed */
export default function ({ parentElement, data: packed, setTriggerValue }) {
  const root = parentElement.querySelector(".frames");
  const data = withRows(unpacked(packed));
  root.setAttribute("aria-label", data.alt);
  const drawn = data.x ? new CurveField(data) : new CellField(data);
  followSlider(root, data, (position) => {
    const isThere = position !== null && data.frames[position];
    root.classList.toggle("waits", !isThere);
    if (isThere) drawn.draw(root, position);
    else root.dataset.waits = data.waits; // a text about missing data covers the last frame
    root.tabIndex = root.scrollWidth > root.clientWidth ? 0 : -1; // the Tab key must reach a scrollable element
  });
  root.onclick = ({ target }) => cells.has(target) && setTriggerValue("clicked", cells.get(target));
}

const cells = new WeakMap(); // shape -> the cell that opens after a click on the shape, { step, index }

function withRows(data) {
  return { ...data, ...JSON.parse(new TextDecoder().decode(data.rows)) };
}

function rowsAt({ usual, fixed, frames }, position) {
  return [...fixed, ...frames[position]].map((row) => ({ ...usual, ...row }));
}

// Creates an <svg> element of a given size that contains these shapes.
function drawing(width, height, shapes, fills = false) {
  return svgShape("svg", {
    viewBox: `0 0 ${width} ${height}`, class: fills ? "fills" : "", style: `--width: ${width}px`,
  }, shapes);
}

// Gives a shape the text `said` as tooltip and as label for screen readers; returns the shape.
function telling(element, said) {
  element.setAttribute("aria-label", said);
  element.setAttribute("role", "img");
  element.append(svgShape("title", {}, said));
  return element;
}

// ---- cells in pixels ------------------------------------------------------------------------------------------------
class CellField {
  constructor(data) {
    this.data = data;
  }

  draw(root, position) {
    const { width, height, fills } = this.data;
    const rows = rowsAt(this.data, position);
    const of = (...kinds) => rows.filter(({ kind }) => kinds.includes(kind));
    const shapes = [
      ...of("cell", "blocked").map((row) => this.cell(row)),
      ...of("blocked").map(({ x, x2, y, y2, ink }) =>
        svgShape("line", { x1: x, x2, y1: y, y2, stroke: ink, opacity: 0.45 }),
      ),
      ...of("bar").map(({ x, x2, y, y2, fill }) =>
        svgShape("rect", { x, y, width: x2 - x, height: y2 - y, fill, "pointer-events": "none" }),
      ),
      ...rows.filter(({ text }) => text).map((row) => this.text(row)),
      ...of("chosen", "read").map((row) => this.outline(row)),
    ];
    root.replaceChildren(drawing(width, height, shapes, fills));
  }

  cell({ x, x2, y, y2, fill, edge, what, value, step, index }) {
    const cell = telling(
      svgShape("path", { d: `M${x} ${y}H${x2}V${y2}H${x}Z`, fill, stroke: edge, "stroke-width": 0.5 }),
      `${what}: ${value}`,
    );
    if (step) {
      cells.set(cell, { step, index: index.split(",").map(Number) });
      cell.style.cursor = "pointer";
    }
    return cell;
  }

  text({ x, x2, y, y2, ink, text, align, size, angle }) {
    const [middle, centre] = [(x + x2) / 2, (y + y2) / 2];
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const place = {
      x: middle, y: centre, fill: ink, "font-size": size, "text-anchor": anchor, "dominant-baseline": "central",
      "pointer-events": "none", transform: `rotate(${angle} ${middle} ${centre})`,
    };
    return svgShape("text", place, text);
  }

  outline({ x, x2, y, y2, fill }) {
    return svgShape("rect", {
      x, y, width: x2 - x, height: y2 - y, fill: "none", stroke: fill, "stroke-width": 2.5, "pointer-events": "none",
    });
  }
}

// ---- curves on two axes ---------------------------------------------------------------------------------------------
class CurveField {
  constructor(data) {
    this.data = data;
  }

  // Computes the width of the drawing and the scales of both axes, for an element that is `room` px wide.
  // The drawing is as wide as the element, but at most data.width and at least LEAST_PX.
  // The font size of the texts does not depend on the width.
  fit(room) {
    const { x, y, width, height, names } = this.data;
    /** @type {number} */
    this.whole = Math.min(width, Math.max(room, LEAST_PX));
    /** @type {number} */
    this.width = this.whole - ROOM.left - names - ROOM.right;
    /** @type {(value: number) => number} */
    this.across = (value) => ROOM.left + this.width * shareAlong(x, value);
    /** @type {(value: number) => number} */
    this.down = (value) => ROOM.top + height * (1 - shareAlong(y, value));
  }

  draw(root, position) {
    this.fit(root.clientWidth || this.data.width); // a hidden element has the width 0, which is ignored
    const { height } = this.data;
    const rows = rowsAt(this.data, position);
    const of = (...kinds) => rows.filter(({ kind }) => kinds.includes(kind));
    const shapes = [
      ...this.axes(),
      ...this.curvesOf(of("band")).map((rows) => this.band(rows)),
      ...of("rule").map(({ x, fill }) => this.rule(x, fill)),
      ...of("under").map((row) => this.stretch(row)),
      ...this.curvesOf(of("point", "zero")).map((rows) => this.line(rows)),
      ...of("point", "zero").map((row) => this.point(row)),
      ...of("text").map(({ x, y, name, fill }) => this.name(this.across(x) + 8, ROOM.top + y, name, fill)),
    ];
    root.replaceChildren(drawing(this.whole, ROOM.top + height + ROOM.bottom, shapes));
  }

  axes() {
    const { data: { height, x, y, ink, faint }, width } = this;
    const [left, right, top, bottom] = [ROOM.left, ROOM.left + width, ROOM.top, ROOM.top + height];
    const anchored = { fill: ink, "font-size": NAME_PX, "dominant-baseline": "central" };
    const text = (x, y, said, anchor) => svgShape("text", { x, y, ...anchored, "text-anchor": anchor }, said);
    return [
      ...x.ticks.map(([value]) =>
        svgShape("line", { x1: this.across(value), x2: this.across(value), y1: top, y2: bottom, stroke: faint }),
      ),
      ...y.ticks.map(([value]) =>
        svgShape("line", { x1: left, x2: right, y1: this.down(value), y2: this.down(value), stroke: faint }),
      ),
      ...this.spaced(x.ticks).map(([value, said]) => text(this.across(value), bottom + 14, said, "middle")),
      ...y.ticks.map(([value, said]) => text(left - 8, this.down(value), said, "end")),
      text(left + width / 2, bottom + 38, x.title, "middle"),
      text(left - 8, 12, y.title, "start"),
    ];
  }

  // Returns the ticks of the x axis, without those whose labels would touch the label before.
  spaced(ticks) {
    let last = -Infinity;
    return ticks.filter(([value]) => {
      const isFree = this.across(value) - last >= TICK_PX;
      if (isFree) last = this.across(value);
      return isFree;
    });
  }

  // Groups rows by their curve: returns one list of rows for each name.
  curvesOf(rows) {
    const curves = new Map();
    for (const row of rows) curves.set(row.name, [...(curves.get(row.name) ?? []), row]);
    return [...curves.values()];
  }

  band(rows) {
    const upper = rows.map(({ x, y2 }) => `${this.across(x)} ${this.down(y2)}`);
    const lower = rows.map(({ x, y }) => `${this.across(x)} ${this.down(y)}`).reverse();
    return svgShape("polygon", { points: [...upper, ...lower].join(" "), fill: rows[0].fill, opacity: 0.18 });
  }

  line(rows) {
    const points = rows.map(({ x, y }) => `${this.across(x)} ${this.down(y)}`).join(" ");
    return svgShape("polyline", {
      points, fill: "none", stroke: rows[0].fill, "stroke-width": 2.5, ...dashes(rows[0]),
    });
  }

  stretch(row) {
    const { x, x2, y, y2, fill, width } = row;
    return svgShape("line", {
      x1: this.across(x), x2: this.across(x2), y1: this.down(y), y2: this.down(y2), stroke: fill, "stroke-width": width,
      ...dashes(row),
    });
  }

  point({ kind, x, y, fill, size, said }) {
    const [cx, cy, r] = [this.across(x), this.down(y), Math.sqrt(size / Math.PI)];
    const isZero = kind === "zero";
    const d = isZero
      ? `M${cx - r} ${cy - r}H${cx + r}L${cx} ${cy + r}Z`
      : `M${cx - r} ${cy}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    return telling(svgShape("path", { d, fill: isZero ? "none" : fill, stroke: fill, "stroke-width": 1.5 }), said);
  }

  rule(x, stroke) {
    const place = this.across(x);
    return svgShape("line", {
      class: "rule", x1: place, x2: place, y1: ROOM.top, y2: ROOM.top + this.data.height, stroke, "stroke-width": 1.5,
      "stroke-dasharray": "4 4",
    });
  }

  name(x, y, said, fill) {
    return svgShape("text", { x, y, fill, "font-size": NAME_PX, "dominant-baseline": "central" }, said);
  }
}

const dashes = ({ dashed }) => (dashed ? { "stroke-dasharray": "7 5" } : {});

// Returns the position of a value along an axis, from 0 to 1; a value outside the axis gets its nearer end.
function shareAlong({ first, last, log }, value) {
  const held = Math.min(Math.max(value, first), last);
  const measure = log ? Math.log : Number;
  return (measure(held) - measure(first)) / (measure(last) - measure(first));
}
