// Shows the scenes of a lecture as tiles ("cards").
// The visitor's own scenes can be reordered by dragging, or with Alt or Ctrl and an arrow key.
import { button, element, setColours, stateOf } from "./dom.js";
import { filled } from "./printed.js";
import { roving } from "./roving.js";
import { drawPicture } from "./small_picture.js";
import { hintOf } from "./touch.js";

/**
 * @typedef {object} Scenes
 * @property {Scene[]} cards
 * @property {number} chosen the index of the chosen card
 * @property {boolean} movable whether the order can be changed
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/**
 * @typedef {object} Scene a scene, shown by shapes, an image or lines
 * @property {string} title
 * @property {string} minutes
 * @property {any[][]} [shapes]
 * @property {string} [image]
 * @property {string[]} [lines]
 * @property {boolean} [code] whether the lines are code
 */

const DRAG_PX = 6; // px: a pointer that moved less counts as a click
const PATIENCE_MS = 3000; // most ms for which further moves are refused until the server answers

/** @param {import("./shared.js").Component<Scenes>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".scenes");
  const view = stateOf(root);
  setColours(root, data.palette);
  const cards = data.cards.map((card, at) => drawScene(card, at, data, () => setTriggerValue("opened", at)));
  const list = element("ol", "list", { ariaLabel: data.text.label }, cards);
  const said = root.querySelector(".heard") ?? element("p", "heard", { ariaLive: "polite" });
  const parts = data.movable ? [element("p", "how", hintOf(data.text, "how")), list] : [list];
  clearTimeout(view.waits);
  view.waits = 0;
  root.onkeydown = null;
  const columns = () => getComputedStyle(list).gridTemplateColumns.split(" ").length;
  // The element with the text for screen readers stays on the page, because they read only changes inside it.
  if (!said.isConnected) root.append(said);
  roving(root, () => {
    for (const old of [...root.children]) if (old !== said) old.remove();
    root.prepend(...parts);
  }, "button", columns);
  if (!data.movable) return;
  const send = (card) => {
    const was = cards.indexOf(card);
    const to = [...list.children].indexOf(card);
    if (was === to) return;
    number(list);
    card.querySelector("button").focus();
    const words = { number: to + 1, count: list.children.length, title: data.cards[was].title };
    said.textContent = filled(data.text.moved, words);
    view.waits = setTimeout(() => (view.waits = 0), PATIENCE_MS);
    setTriggerValue("moved", [was, to]);
  };
  const walk = root.onkeydown;
  root.onkeydown = (event) => {
    if (!(event.altKey || event.ctrlKey || event.metaKey)) return walk(event);
    const card = event.target.closest("li");
    const line = columns();
    const way = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: line, ArrowUp: -line }[event.key];
    if (!card || !way) return;
    event.preventDefault(); // Alt and an arrow key would go back in the browser's history
    const to = [...list.children].indexOf(card) + way;
    if (view.waits || to < 0 || to >= list.children.length) return;
    put(list, card, to);
    send(card);
  };
  for (const card of list.children) followDrag(root, view, list, card, send);
}

/**
 * @param {Scene} scene
 * @param {number} at its index
 * @param {Scenes} data
 * @param {() => void} open
 */
function drawScene(scene, at, { chosen, movable, text }, open) {
  const { title, minutes, code } = scene;
  const card = button(at === chosen ? "chosen" : "", { title: movable ? text.choose : text.start }, open, [
    element("span", code ? "shown code" : "shown", { ariaHidden: "true" }, picturesOf(scene)),
    element("span", "named", [
      element("span", "number", at + 1), element("bdi", "title", title), element("span", "minutes", minutes),
    ]),
  ]);
  /** @type {HTMLElement[]} */
  const parts = [card];
  if (movable) {
    card.ariaCurrent = String(at === chosen);
    parts.push(element("span", "grip", { textContent: "⠿", title: text.grip, ariaHidden: "true" }));
  }
  return element("li", "scene", parts);
}

/** @param {Scene} scene */
function picturesOf({ shapes, image, lines = [] }) {
  if (shapes) return [drawPicture(shapes)];
  if (image) return [element("img", "", { src: image, alt: "", draggable: false })];
  return lines.map((line) => element("bdi", "", line));
}

// Lets the visitor drag a scene's tile: a mouse anywhere, a finger only at its grip. Escape moves the tile back.
function followDrag(root, view, list, card, send) {
  card.onpointerdown = (down) => {
    const isGrip = down.target.matches(".grip");
    if (down.button !== 0 || view.waits || (down.pointerType !== "mouse" && !isGrip)) return;
    const from = [...list.children].indexOf(card);
    const move = (event) => {
      const far = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) >= DRAG_PX;
      if (!far && !card.matches(".dragged")) return;
      card.classList.add("dragged");
      const under = root.getRootNode().elementsFromPoint(event.clientX, event.clientY);
      const other = under
        .map((each) => each.closest("li"))
        .find((each) => each && each !== card && list.contains(each));
      if (other) put(list, card, [...list.children].indexOf(other));
      number(list);
    };
    const leave = (isKept) => {
      for (const [name, listen] of Object.entries(heard)) window.removeEventListener(name, listen, true);
      if (!card.matches(".dragged")) return;
      card.classList.remove("dragged");
      // ignores the click at the end of a drag
      window.addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => window.removeEventListener("click", swallow, true));
      if (isKept) return send(card);
      put(list, card, from);
      number(list);
    };
    const heard = {
      pointermove: move,
      pointerup: () => leave(true),
      pointercancel: () => leave(false),
      keydown: (event) => event.key === "Escape" && leave(false),
    };
    for (const [name, listen] of Object.entries(heard)) window.addEventListener(name, listen, true);
  };
}

function swallow(event) {
  event.stopPropagation();
  event.preventDefault();
}

function put(list, card, to) {
  const others = [...list.children].filter((each) => each !== card);
  list.insertBefore(card, others[to] ?? null);
}

function number(list) {
  [...list.querySelectorAll(".number")].forEach((each, at) => (each.textContent = at + 1));
}
