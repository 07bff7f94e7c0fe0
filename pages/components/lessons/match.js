// Shows a query and a key as draggable arrows, and five scores of the two, each with a drawing of its geometry.
import { button, element, keepFocus, setColours, stateOf, svgShape } from "../dom.js";
import { arrowOf, followPointer, Rest } from "../drag.js";
import { clamp } from "../flow/motion.js";
import { said, spellNumber } from "../flow/words.js";
import { formulaParts } from "../formula.js";
import { rounded } from "../rounded.js";
import { roving } from "../roving.js";
import { dot, lengthOf, MATCHES, together, turned } from "./match_twin.js";

/** @typedef {import("./match_twin.js").Made} Made */
/** @typedef {import("./match_twin.js").Vector} Vector */

/**
 * @typedef {object} Match
 * @property {Vector} q
 * @property {Vector} k
 * @property {Record<string, number>} scores the scores of q and k, computed by the server
 * @property {string} chosen the score whose geometry is drawn
 * @property {Made} made the learned matrices of the scores
 * @property {number} reach the largest coordinate of the plane
 * @property {Record<string, number>} limits score -> its value at the ends of its dial
 * @property {Record<string, string>} names
 * @property {Record<string, string>} formulas
 * @property {Record<string, string>} told a sentence on each score
 * @property {Record<string, string>} palette
 * @property {any} text
 */

// side of the plane and of a handle in viewBox units; STEP is a step of a coordinate
const SIDE = 400, STEP = 0.1, GRIP = 15;

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Match} data
 * @property {(event: string, value: unknown) => void} trigger
 * @property {Rest} rest ends a change by arrow keys after a pause
 * @property {string | null} held the dragged arrow, q or k
 * @property {{ q: Vector, k: Vector, chosen: string }} now the drawn vectors and score
 * @property {SVGElement} plane
 * @property {HTMLElement} dials
 * @property {HTMLElement} told
 */

/** @param {import("../shared.js").Component<Match>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".match");
  setColours(root, data.palette, ["ink", "faint", "ground", "outline", "plus", "minus", "q", "k", "share"]);
  /** @type {View} */
  const view = stateOf(root);
  Object.assign(view, { data, trigger: setTriggerValue });
  view.rest ??= new Rest(() => sendMoved(view)); // a pause ends a change by arrow keys
  if (!view.held && !view.rest.isOn) view.now = { q: data.q, k: data.k, chosen: data.chosen };
  if (!view.plane) build(view);
  draw(view);
}

/** @param {View} view */
function build(view) {
  view.plane = svgShape("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "plane", role: "group" });
  view.dials = element("div", "dials", { role: "group" });
  view.told = element("div", "told", { ariaLive: "polite" });
  view.root.append(view.plane, element("div", "side", [view.told, view.dials]));
}

// ---- the numbers ----------------------------------------------------------------------------------------------------
function scoresNow({ data, now }) {
  const isProven = String(now.q) === String(data.q) && String(now.k) === String(data.k);
  if (isProven) return data.scores;
  return Object.fromEntries(Object.entries(MATCHES).map(([name, match]) => [name, match(now.q, now.k, data.made)]));
}

/** @param {View} view */
function draw(view) {
  const { data, now } = view;
  const scores = scoresNow(view);
  const refocus = keepFocus(view.root);
  view.plane.setAttribute("aria-label", data.text.alt);
  view.plane.replaceChildren(
    ...axes(data),
    ...GEOMETRY[now.chosen](view),
    ...["k", "q"].flatMap((role) => arrow(view, role)),
  );
  roving(view.dials, () =>
    view.dials.replaceChildren(...Object.keys(MATCHES).map((name) => dial(view, name, scores[name]))),
  );
  view.told.textContent = said(data.told[now.chosen], describe(view, scores));
  refocus();
}

function describe({ data, now: { q, k } }, scores) {
  const angle = (Math.acos(clamp(scores.cosine, -1, 1)) * 180) / Math.PI;
  const texts = Object.fromEntries(Object.entries(scores).map(([name, score]) => [name, spellNumber(score)]));
  const vector = (numbers) => `(${numbers.map(spellNumber).join(", ")})`;
  return {
    ...texts, angle: rounded(angle, 0), q_length: spellNumber(lengthOf(q)), k_length: spellNumber(lengthOf(k)),
    turned: vector(turned(q, data.made.w_a)),
    sum: vector(together(turned(q, data.made.w_aq), turned(k, data.made.w_ak))),
  };
}

// ---- the plane ------------------------------------------------------------------------------------------------------
const unit = ({ reach }) => SIDE / 2 / reach;
/** @type {(data: { reach: number }, vector: number[]) => number[]} */
const spot = (data, [x, y]) => [SIDE / 2 + x * unit(data), SIDE / 2 - y * unit(data)];

function line(data, from, to, look) {
  const [[x1, y1], [x2, y2]] = [spot(data, from), spot(data, to)];
  return svgShape("line", { x1, y1, x2, y2, class: look });
}

function axes(data) {
  const made = [];
  for (let at = -data.reach; at <= data.reach; at++) {
    made.push(
      line(data, [at, -data.reach], [at, data.reach], at ? "grid" : "axis"),
      line(data, [-data.reach, at], [data.reach, at], at ? "grid" : "axis"),
    );
  }
  return made;
}

/** @param {number[]} vector */
function named(data, vector, name, look) {
  const [x, y] = vector;
  const [cx, cy] = spot(data, vector);
  const away = Math.max(Math.hypot(x, y), 1e-9);
  const inside = (at, room) => clamp(at, room, SIDE - room);
  const place = { x: inside(cx + (18 * x) / away, 24), y: inside(cy - (18 * y) / away + 6, 18) };
  return svgShape("text", { ...place, class: look, "text-anchor": "middle" }, name);
}

/** @param {View} view */
function arrow(view, role) {
  const { data, now } = view;
  const tip = now[role];
  const [x, y] = spot(data, tip);
  const back = Math.atan2(tip[1], tip[0]);
  const barb = (turn) => `${x - 13 * Math.cos(back + turn)} ${y + 13 * Math.sin(back + turn)}`;
  const grip = svgShape("circle", {
    cx: x, cy: y, r: GRIP, class: `grip ${view.held === role ? "held" : ""}`, tabindex: 0, role: "slider",
    "aria-label": data.text[role], "aria-valuenow": tip[0], "aria-valuetext": tip.map(spellNumber).join(", "),
    "data-place": role,
  });
  grip.onpointerdown = (event) => {
    view.held = role;
    followPointer(view.plane, event, { move: (moved) => drag(view, moved), release: () => letGo(view) });
    event.preventDefault();
  };
  grip.onkeydown = (event) => press(view, role, event);
  return [
    line(data, [0, 0], tip, `arrow ${role}`),
    svgShape("path", { d: `M${barb(0.42)}L${x} ${y}L${barb(-0.42)}`, class: `arrow ${role}` }),
    named(data, tip, role, `name ${role}`), grip,
  ];
}

// For each score, the function that returns the shapes that illustrate it.
/** @type {Record<string, (root: any) => SVGElement[]>} */
const GEOMETRY = {
  cosine: ({ data, now: { q, k } }) => [wedge(data, q, k)],
  dot: ({ data, now: { q, k } }) => shadow(data, q, k),
  scaled_dot: ({ data, now: { q, k } }) => shadow(data, q, k),
  general: ({ data, now: { q, k } }) => {
    const other = turned(q, data.made.w_a);
    return [
      wedge(data, q, other, "turn"), line(data, [0, 0], other, "arrow q dashed"),
      named(data, other, data.text.turned, "name q"), ...shadow(data, other, k),
    ];
  },
  additive: ({ data, now: { q, k } }) => {
    const [one, other] = [turned(q, data.made.w_aq), turned(k, data.made.w_ak)];
    const both = together(one, other);
    return [
      line(data, one, both, "lead"), line(data, other, both, "lead"), line(data, [0, 0], both, "arrow sum"),
      named(data, both, data.text.sum, "name sum"),
    ];
  },
};

// Returns the angle between two vectors as a filled sector, or as an arc if `look` is "turn".
function wedge(data, one, other, look = "angle") {
  const [from, to] = [Math.atan2(one[1], one[0]), Math.atan2(other[1], other[0])];
  const way = Math.atan2(Math.sin(to - from), Math.cos(to - from)); // the smaller of the two angles between them
  const radius = 0.9;
  const steps = Array.from({ length: 25 }, (_, i) => from + (way * i) / 24).map((angle) =>
    spot(data, [radius * Math.cos(angle), radius * Math.sin(angle)]),
  );
  const middle = spot(data, [0, 0]);
  return svgShape("path", {
    d: look === "turn" ? `M${steps.join("L")}` : `M${middle}L${steps.join("L")}Z`, class: look,
  });
}

// Returns the projection of k on another vector as a line.
// The length of this projection times the length of the other vector is the dot product.
function shadow(data, one, k) {
  const squared = dot(one, one);
  if (squared === 0) return [];
  const foot = one.map((number) => (number * dot(one, k)) / squared);
  return [line(data, k, foot, "lead"), line(data, [0, 0], foot, dot(one, k) < 0 ? "shadow minus" : "shadow")];
}

// ---- the dials ------------------------------------------------------------------------------------------------------
/** @param {View} view */
function dial(view, name, score) {
  const { data, now } = view;
  const [limit, isLimit] = [data.limits[name], name in data.text.ends];
  const share = clamp(score / limit, -1, 1);
  const beam = element("span", `beam ${score < 0 ? "minus" : ""}`, {
    style: `left: ${50 + 50 * Math.min(share, 0)}%; width: ${50 * Math.abs(share)}%`,
  });
  const choose = () => {
    view.now.chosen = name;
    draw(view);
    // Sends changes by arrow keys that were not sent yet, before another message is sent.
    // A busy server keeps only the last message of a component.
    view.rest.end();
    view.trigger("chosen", name);
  };
  return button(`dial ${name === now.chosen ? "chosen" : ""}`, { ariaPressed: name === now.chosen }, choose, [
    element("span", "said", data.names[name]), element("span", "formula", formulaParts(data.formulas[name])),
    element("span", `track ${isLimit ? "closed" : ""}`, [beam]), element("span", "much", spellNumber(score)),
    element("span", "end", isLimit ? data.text.ends[name] : data.text.open),
  ]);
}

// ---- input ----------------------------------------------------------------------------------------------------------
/** @param {View} view */
function moveTo(view, role, vector) {
  const { reach } = view.data;
  view.now[role] = vector.map((number) => Math.round(clamp(number, -reach, reach) / STEP) / Math.round(1 / STEP));
  draw(view);
}

/** @param {View} view */
function drag(view, event) {
  const box = view.plane.getBoundingClientRect();
  const share = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  const { reach } = view.data;
  moveTo(view, view.held, [(2 * share[0] - 1) * reach, (1 - 2 * share[1]) * reach]);
}

/** @param {View} view */
function letGo(view) {
  view.held = null;
  draw(view);
  sendMoved(view);
}

/** @param {View} view */
function sendMoved(view) {
  view.rest.drop();
  view.trigger("moved", [view.now.q, view.now.k]);
}

/** @param {View} view */
function press(view, role, event) {
  const arrow = arrowOf(event);
  if (!arrow) return;
  moveTo(view, role, view.now[role].map((number, i) => number + STEP * arrow[i]));
  view.rest.begin();
}
