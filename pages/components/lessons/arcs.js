// Draws a line of symbols with arcs from each symbol back to those that it attends to, as thick as the weight.
// Arcs of the last layer's heads are above the line, and arcs of the first layer's heads are below it.
import { added, button, classes, focused, onResize, setColours, stateOf } from "../dom.js";
import { said, spellWholePercent } from "../flow/words.js";
import { followSlider } from "../live/position.js";
import { listenToWord, WordPicture } from "./word_picture.js";

/** @typedef {import("../live/position.js").Sliders} Sliders */

/**
 * @typedef {object} Arcs
 * @property {string} run the identity of the run; a new run resets the chosen symbol
 * @property {string[]} symbols
 * @property {Head[]} heads the heads that are not ablated
 * @property {Frame[]} frames a frame for each position of the slider
 * @property {Sliders} slider
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/** @typedef {{ name: string, at: number[], above: boolean, colour: string }} Head at: layer and head */

/**
 * @typedef {object} Frame
 * @property {Record<string, [query: number, key: number, weight: number][]>} arcs head -> its drawn arcs
 * @property {[symbol: string, share: number][]} next the predicted symbol after each symbol, and its probability
 */

const LEAST_SLOT = 13, MOST_SLOT = 62; // px: least and largest width of the space for a symbol
const THICKEST_ARC = 11, THINNEST_ARC = 0.6; // px: width of the arc of weight 1, and of weight 0
const ABOVE = 146, BELOW = 58; // px: height of the highest arc above the line, and of the lowest below it
const LINE_ROOM = 34; // px: height of the line of symbols

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Arcs} data
 * @property {(event: string, value: unknown) => void} trigger
 * @property {WordPicture} picture
 * @property {HTMLElement} told
 * @property {any} chips the element with the buttons of the heads
 * @property {string} run
 * @property {Frame} frame
 * @property {number | null} kept the chosen symbol
 * @property {number | null} looked the symbol that is hovered or focused
 */

/** @param {import("../shared.js").Component<Arcs>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".arcs");
  /** @type {View} */
  const view = stateOf(root);
  if (view.run !== data.run) view.kept = view.looked = null;
  Object.assign(view, { data, trigger: setTriggerValue, run: data.run });
  setColours(root, data.palette, ["ink", "faint", "share", "outline"]);
  if (!view.picture) {
    view.picture = new WordPicture(root);
    view.told = added(root, "div", "told", { ariaLive: "polite" });
    view.chips = added(root, "div", "chips");
  }
  onResize(root, () => draw(view));
  followSlider(view.picture.svg, data.slider, (position) => {
    view.frame = data.frames[position ?? data.slider.position];
    draw(view);
  });
}

/** @param {View} view */
function draw(view) {
  const { data, picture } = view;
  const { clientWidth: wide } = view.root;
  if (!wide) return;
  const place = line(wide, data.symbols.length);
  const make = () => [...arcs(view, place), ...symbols(view, place), ...expected(view, place)];
  picture.draw({ height: place.height, label: data.text.alt }, make, arrange);
  view.told.textContent = tell(view);
  showChips(view);
}

// Inserts only shapes that are not in the picture yet, so that the others keep their focus and animation.
function arrange(svg, shapes) {
  const hasFocus = focused(svg);
  shapes.forEach(
    (each, i) => each !== hasFocus && svg.childNodes[i] !== each && svg.insertBefore(each, svg.childNodes[i] ?? null),
  );
}

// ---- layout ---------------------------------------------------------------------------------------------------------
// Returns the layout of the line. If not all symbols fit, the first are left out, and arcs to them end at the left.
function line(wide, count) {
  const shown = Math.min(count, Math.floor(wide / LEAST_SLOT) - 3);
  const first = count - shown;
  const slot = Math.min(MOST_SLOT, wide / (shown + 1 + (first ? 1 : 0.4)));
  const left = (wide - slot * (shown + 1)) / 2;
  const widest = (slot * shown) / 2; // height of an arc over all symbols, unless bounded
  const above = Math.min(ABOVE, widest);
  return {
    first,
    slot,
    size: Math.max(12, Math.min(30, slot * 0.6)),
    x: (i) => left + (Math.max(i - first, -0.5) + 0.5) * slot,
    top: above + 12,
    bottom: above + 12 + LINE_ROOM,
    height: above + Math.min(BELOW, widest) + LINE_ROOM + 22,
  };
}

function arcPath(place, { above, at }, query, key) {
  const y = above ? place.top : place.bottom;
  const way = above ? -1 : 1;
  const [from, to] = [place.x(query), place.x(key)];
  if (query === key)
    return `M${from - 3} ${y}c${-place.slot * 0.4} ${way * 26} ${place.slot * 0.4 + 6} ${way * 26} 6 0`;
  const reach = Math.abs(from - to) / 2;
  // the second head's arcs are flatter, so that two heads' arcs to the same symbol do not coincide
  const flat = at[1] ? 0.8 : 1;
  const high = Math.min(reach, above ? ABOVE : BELOW) * flat;
  return `M${from} ${y}A${reach} ${high} 0 0 ${above ? 0 : 1} ${to} ${y}`;
}

// ---- drawing --------------------------------------------------------------------------------------------------------
const askerOf = (view) => view.looked ?? view.kept ?? view.data.symbols.length - 1;

/** The strongest drawn arc of a head from a symbol; null if the head has no drawn arc there. @param {View} view */
function strongest(view, { name }, query) {
  const own = view.frame.arcs[name].filter(([from]) => from === query);
  return own.sort(([, , one], [, , other]) => other - one)[0] ?? null;
}

/** The strongest arc of the last layer from a symbol, { head, arc }, or null. @param {View} view */
function found(view, query) {
  const above = view.data.heads.filter((head) => head.above);
  const strong = above.flatMap((head) => {
    const arc = strongest(view, head, query);
    return arc ? [{ head, arc }] : [];
  });
  return strong.sort((one, other) => other.arc[2] - one.arc[2])[0] ?? null;
}

/** @param {View} view */
function arcs(view, place) {
  const { picture } = view;
  const asker = askerOf(view);
  const source = found(view, asker)?.arc[1]; // the most attended symbol, whose own arcs in layer 1 are shown, too
  const drawn = [];
  for (const head of view.data.heads)
    for (const [query, key, weight] of view.frame.arcs[head.name]) {
      if (query < place.first) continue;
      const isNow = query === asker || (!head.above && query === source);
      const path = picture.put(`arc ${head.name} ${query} ${key}`, "path", {
        d: arcPath(place, head, query, key),
        class: isNow ? "now" : "away",
        role: "img",
        "aria-label": `${head.name}: ${nameOf(view, query)} → ${nameOf(view, key)}: ${spellWholePercent(weight)}`,
        style: `stroke:${head.colour};stroke-width:${THINNEST_ARC + (THICKEST_ARC - THINNEST_ARC) * weight}px`,
      });
      path.onclick = () => view.trigger("opened", [...head.at, query, key]);
      drawn.push([isNow, path]);
    }
  // the current arcs are drawn last, on top
  return drawn.sort(([one], [other]) => one - other).map(([, path]) => path);
}

const nameOf = ({ data }, i) => said(data.text.place, { symbol: data.symbols[i], place: i + 1 });

/** @param {View} view */
function symbols(view, place) {
  const { picture } = view;
  const asker = askerOf(view);
  const source = found(view, asker)?.arc[1];
  const isCopy = isCopied(view, asker, source);
  const y = (place.top + place.bottom) / 2 + place.size * 0.35;
  const drawn = [];
  view.data.symbols.forEach((symbol, i) => {
    if (i < place.first) return;
    const isAgain = isCopy && i === source - 1;
    const attributes = {
      class: classes("symbol", i === asker && "asker", i === source && "source", isAgain && "again"),
      x: place.x(i), y, role: "button", "aria-label": nameOf(view, i),
      style: `font-size:${place.size}px`,
    };
    const text = picture.put(`symbol ${i}`, "text", attributes, symbol);
    follow(view, text, i);
    drawn.push(text);
  });
  if (place.first)
    drawn.push(picture.put("more", "text", { x: 6, y, class: "more", style: `font-size:${place.size}px` }, "…"));
  if (isCopy && source > place.first && place.slot > 24) {
    const at = { x: place.x(source - 0.5), y, class: "step", style: `font-size:${place.size * 0.6}px` };
    drawn.push(picture.put("step", "text", at, "→"));
  }
  return drawn;
}

// Returns whether the symbol at index `source` follows an earlier occurrence of the symbol at index `asker`.
const isCopied = ({ data: { symbols } }, asker, source) =>
  source > 0 && source <= asker && symbols[source - 1] === symbols[asker];

/** The predicted symbol in a dashed field after the last symbol. @param {View} view */
function expected(view, place) {
  const { picture } = view;
  const [symbol, share] = view.frame.next[askerOf(view)];
  const x = place.x(view.data.symbols.length);
  const half = Math.min(20, place.slot * 0.46);
  const middle = (place.top + place.bottom) / 2;
  const much = Math.min(16, Math.max(11, place.slot * 0.4));
  const field = { x: x - half, y: middle - 18, width: 2 * half, height: 36, rx: 6, class: "field" };
  const next = { x, y: middle + place.size * 0.35, class: "next", style: `font-size:${place.size}px` };
  const told = { x: x + half, y: middle + 36, class: "much", style: `font-size:${much}px` };
  return [
    picture.put("field", "rect", field), picture.put("next", "text", next, symbol),
    picture.put("share", "text", told, spellWholePercent(share)),
  ];
}

// ---- input ----------------------------------------------------------------------------------------------------------
/** @param {View} view */
function follow(view, text, i) {
  const look = (looked) => {
    view.looked = looked;
    draw(view);
  };
  const choose = () => {
    view.kept = i;
    look(null);
  };
  listenToWord(text, { look: () => look(i), leave: () => view.looked !== null && look(null), choose });
}

/** The sentence on where the selected symbol attends to. @param {View} view */
function tell(view) {
  const { symbols, text } = view.data;
  const asker = askerOf(view);
  const most = found(view, asker);
  const parts = { symbol: symbols[asker], place: asker + 1 };
  if (!most) return said(text.nowhere, parts);
  const [, source, weight] = most.arc;
  const kind = isCopied(view, asker, source) ? "copies" : "looks";
  return said(text[kind], {
    ...parts, head: most.head.name, share: spellWholePercent(weight), found: symbols[source], at: source + 1,
  });
}

/** Updates the buttons of the heads: each shows the strongest weight, and opens its cell. @param {View} view */
function showChips(view) {
  const asker = askerOf(view);
  const rows = view.data.heads.map((head) => {
    const arc = strongest(view, head, asker);
    const told = arc ? `${head.name} → ${nameOf(view, arc[1])} ${spellWholePercent(arc[2])}` : `${head.name} –`;
    return { head, arc, told };
  });
  while (view.chips.childNodes.length > rows.length) view.chips.lastChild.remove();
  rows.forEach(({ head, arc, told }, i) => {
    /** @type {HTMLButtonElement} */
    const chip = view.chips.children[i] ?? view.chips.appendChild(button("chip", {}, () => {}));
    if (chip.textContent !== told) chip.textContent = told;
    chip.style.setProperty("--own", head.colour);
    chip.disabled = !arc;
    chip.onclick = () => view.trigger("opened", [...head.at, asker, arc[1]]);
  });
}
