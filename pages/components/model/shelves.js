// Shows how a decoder generates word by word: cached keys and values, and the costs with and without a cache.
// A "stop" of the animation is the state after a number of generated words.
// The data contain all stops, so that the browser moves between them without the server.
import { button, element, isDrawn, keepFocus, setColours, stateOf, svgShape } from "../dom.js";
import { Rest } from "../drag.js";
import { isCalm } from "../flow/motion.js";
import { said, spellWholePercent } from "../flow/words.js";
import { floatsOf, unpacked } from "../pixels.js";
import { playerOf } from "../player.js";
import { roving } from "../roving.js";

/**
 * @typedef {object} Shelves
 * @property {string} run the identity of the run; a new run starts at `stop`
 * @property {number} stop the number of generated words
 * @property {number} given the number of input words
 * @property {string[]} words
 * @property {string[]} layers the names of the layers
 * @property {string[]} heads the names of the heads
 * @property {number} width the number of numbers in a key
 * @property {({ word: string, number: number, share: number } | null)[]} next the word that is generated at each stop
 * @property {Record<"cached" | "again", string[]>} told the text of each stop, with a cache and without one
 * @property {Count[]} counts
 * @property {Float32Array} weights the weights of each stop, layer, head and key
 * @property {Uint8Array} strips keys and values of each layer, head and word, as strengths of a colour
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/**
 * @typedef {object} Count a number of computed or cached items, with a cache and without one
 * @property {string} title
 * @property {string[]} names
 * @property {string[][]} texts the number so far, as text, at each stop
 * @property {string[][]} added the text on what each stop adds
 * @property {number[][]} sizes the number so far at each stop
 */

const WORD_TIME = 1200; // ms for which the player shows a word
const SETTLED_MS = 400; // ms: after this pause the number of words is sent to the server (debounce)
const DROP = { duration: 380, easing: "ease-out" }; // animation of a newly computed column of the cache
const WAYS = ["cached", "again"];

/** @param {import("../shared.js").Component<Uint8Array>} component data: a packed Shelves */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".shelves");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  const tellStop = () => root.isConnected && !view.playing && view.trigger("stop", view.at);
  view.rest ??= new Rest(tellStop, SETTLED_MS);
  if (isDrawn(root, data)) return;
  /** @type {Shelves} */
  const shown = unpacked(data);
  shown.weights = floatsOf(shown.weights);
  setColours(root, shown.palette, ["ground", "ink", "faint", "share", "q", "k", "v", "x"]);
  const refocus = keepFocus(root);
  if (view.run !== shown.run) Object.assign(view, { run: shown.run, at: shown.stop });
  view.head = Math.min(view.head ?? 0, shown.heads.length - 1);
  view.way ??= WAYS[0];
  const fields = shown.layers.map((name, layer) => new Field(view, shown, name, layer));
  const typed = element("div", "typed", { role: "group", ariaLabel: shown.text.typed });
  const counts = element("div", "counts");
  const move = moverOf(view, shown, (isStep) => {
    typed.replaceChildren(...wordsOf(view, shown, move));
    counts.replaceChildren(...shown.counts.map((each) => countOf(view, each)));
    for (const field of fields) field.show(isStep);
  });
  const left = element("div", "left", [labelsOf(shown), ...fields.map((field) => field.element)]);
  move.walk.append(choicesOf(view, shown, move));
  root.replaceChildren(move.walk, move.told, typed, element("div", "both", [left, counts]));
  move.show(view.at);
  refocus();
}

// ---- the player -----------------------------------------------------------------------------------------------------
function moverOf(view, shown, draw) {
  const last = shown.told.cached.length - 1;
  const told = element("div", "told", { ariaLive: "polite" });
  const tell = (at, isStep) => {
    told.textContent = shown.told[view.way][at];
    back.disabled = at === 0;
    on.disabled = at === last;
    draw(isStep);
    return told.textContent;
  };
  const settled = () => view.rest.begin();
  const { play, range, show, go } = playerOf(view, { text: shown.text, last, time: WORD_TIME, draw: tell, settled });
  const move = (at) => go(Math.max(0, Math.min(at, last)), at === view.at + 1);
  const back = button("", { textContent: shown.text.back, place: "back" }, () => move(view.at - 1));
  const on = button("", { textContent: shown.text.on, place: "on" }, () => move(view.at + 1));
  const walk = element("div", "walk", { role: "group", ariaLabel: shown.text.label }, [play, back, on, range]);
  walk.onkeydown = (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way || event.target === range) return;
    event.preventDefault();
    move(view.at + way);
  };
  return { walk, told, show, go: move };
}

// ---- the words ------------------------------------------------------------------------------------------------------
function wordsOf(view, { words, given, next, text }, move) {
  const seen = given + view.at;
  const tiles = words.slice(0, seen).map((word, t) => {
    if (t < given) return element("span", "word", word);
    const look = t === seen - 1 ? "word written now" : "word written";
    return button(look, { textContent: word, title: text.go, place: `word ${t}` }, () => move.go(t + 1 - given));
  });
  const coming = next[view.at];
  if (!coming) return tiles;
  const cell = { part: "unembedding", step: "probabilities", index: [0, 0, coming.number] };
  const open = () => view.trigger("opened", { stop: view.at, ...cell });
  const tile = button("word coming", { title: text.open, place: "coming" }, open, [
    element("span", "", coming.word), element("span", "much", spellWholePercent(coming.share)),
  ]);
  return [...tiles, tile];
}

const labelsOf = ({ words }) =>
  element(
    "div", "labels", { ariaHidden: "true", style: `--count: ${words.length}` },
    words.map((word) => element("span", "", { textContent: word, title: word })),
  );

// ---- the shelf of a layer -------------------------------------------------------------------------------------------
class Field {
  constructor(view, shown, name, layer) {
    this.view = view;
    this.shown = shown;
    this.name = name;
    this.layer = layer;
    this.threads = svgShape("svg", {
      viewBox: `0 0 ${shown.words.length} 10`, preserveAspectRatio: "none", "aria-hidden": true,
    });
    this.query = element("span", "query", "q");
    this.cells = ["weights", "k", "v"].map((step) => shown.words.map((_, s) => this.cell(step, s)));
    const look = { role: "group", ariaLabel: name, style: `--count: ${shown.words.length}` };
    this.grid = element("div", "grid", look, this.cells.flat());
    const title = [element("span", "name", name), element("span", "k", "k"), element("span", "v", "v")];
    this.element = element("div", "layer", [
      element("div", "title", title), element("div", "field", [this.threads, this.query, this.grid]),
    ]);
  }

  cell(step, s) {
    return button(step, { place: `${this.layer} ${step} ${s}` }, () => this.open(step, s));
  }

  open(step, s) {
    const index = step === "weights" ? [0, this.view.head, 0, s] : [0, this.view.head, s, 0];
    this.view.trigger("opened", { stop: this.view.at, part: `${this.layer + 1}.attention`, step, index });
  }

  weight(s) {
    const { weights, words, layers, heads } = this.shown;
    const row = (this.view.at * layers.length + this.layer) * heads.length + this.view.head;
    return weights[row * words.length + s];
  }

  show(isStep) {
    const { view, shown } = this;
    const seen = shown.given + view.at;
    const isNew = (s) => s < seen && (view.way === "again" || view.at === 0 || s === seen - 1);
    const [weights, keys, values] = this.cells;
    roving(
      this.grid,
      () => {
        shown.words.forEach((word, s) => {
          const share = spellWholePercent(this.weight(s));
          weights[s].textContent = s < seen ? share : "";
          const at = { layer: this.name, word: shown.words[seen - 1], key: word, share };
          weights[s].ariaLabel = said(shown.text.weight, at);
          weights[s].classList.toggle("strong", this.weight(s) >= 0.1);
          this.fill(keys[s], "key", s, isNew(s), isStep);
          this.fill(values[s], "value", s, isNew(s), isStep);
          for (const cells of this.cells) cells[s].disabled = s >= seen;
        });
      },
      "button:not(:disabled)",
      () => seen,
    );
    this.draw(seen);
  }

  // Colours a cell of the cache: the key or value of word s in one layer.
  // A cell computed for the current word has a rim; if the player moved by one word, the cell drops in.
  fill(cell, name, s, isNew, isStep) {
    const { shown } = this;
    cell.classList.toggle("now", isNew);
    cell.style.background = this.strip(name, s);
    const state = shown.text[isNew ? "computed" : "kept"];
    cell.title = cell.ariaLabel = said(shown.text[name], { layer: this.name, word: shown.words[s], state });
    if (isStep && isNew && !isCalm()) {
      cell.animate([{ transform: "translateY(-16px)", opacity: 0 }, { transform: "none", opacity: 1 }], DROP);
    }
  }

  // Returns a CSS gradient with a band per component of a key or value; larger components have stronger bands.
  strip(name, s) {
    const { strips, words, heads, width } = this.shown;
    const first =
      (((this.layer * heads.length + this.view.head) * words.length + s) * 2 + (name === "value" ? 1 : 0)) * width;
    const bands = Array.from({ length: width }, (_, i) => {
      const strength = Math.round(12 + (88 * strips[first + i]) / 255);
      const colour = `color-mix(in srgb, var(--${name[0]}) ${strength}%, transparent)`;
      return `${colour} ${(100 * i) / width}% ${(100 * (i + 1)) / width}%`;
    });
    return `linear-gradient(${bands.join(", ")})`;
  }

  draw(seen) {
    const from = seen - 0.5;
    this.query.style.left = `${(100 * from) / this.shown.words.length}%`;
    this.threads.replaceChildren(
      ...Array.from({ length: seen }, (_, s) => {
        const d = `M ${from} 1 C ${from} 7, ${s + 0.5} 3, ${s + 0.5} 10`;
        const weight = this.weight(s);
        return svgShape("path", { d, "stroke-width": 0.6 + 9 * weight, opacity: 0.15 + 0.85 * weight });
      }),
    );
  }
}

// ---- choices and counts ---------------------------------------------------------------------------------------------
function choicesOf(view, shown, move) {
  const group = (label, names, chosen, choose) => {
    const buttons = names.map((textContent, i) =>
      button("way", { textContent, place: `${label} ${i}` }, () => {
        choose(i);
        press();
        move.show(view.at);
      }),
    );
    const press = () => buttons.forEach((each, i) => (each.ariaPressed = String(i === chosen())));
    press();
    const look = { role: "group", ariaLabel: label };
    return element("div", "choice", look, [element("span", "label", label), ...buttons]);
  };
  const { text, heads } = shown;
  const pictures = WAYS.map((way) => text[`way_${way}`]);
  return element("div", "choices", [
    group(text.picture, pictures, () => WAYS.indexOf(view.way), (i) => (view.way = WAYS[i])),
    group(text.head, heads, () => view.head, (i) => (view.head = i)),
  ]);
}

// Returns a cost of generation as two bars on one scale: with the cache, and without it.
function countOf(view, { title, names, texts, added, sizes }) {
  const most = Math.max(...sizes.flat());
  const lines = names.map((name, i) => {
    const bar = element("span", "bar", { style: `width: ${(100 * sizes[view.at][i]) / most}%` });
    return element("div", `line ${WAYS[i]}`, [
      element("span", "name", name), element("span", "number", texts[view.at][i]),
      element("span", "added", added[view.at][i]), element("span", "track", [bar]),
    ]);
  });
  return element("div", "count", [element("h5", "", title), ...lines]);
}
