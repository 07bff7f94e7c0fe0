// Shows the next word of a language model: the text so far, likely words, sampling controls, and the cache.
import { button, element, isDrawn, keepFocus, setColours, stateOf } from "../dom.js";
import { said, spellWholePercent } from "../flow/words.js";
import { floatsOf, unpacked } from "../pixels.js";
import { sharesOf, slider, temperatureSlider } from "./controls.js";

/**
 * @typedef {object} Words
 * @property {{ word: string, kind: string }[]} tiles the text so far; tiles of kind start or blank are disabled
 * @property {{ word: string, number: number, share: number, cell: any }[]} words the likeliest next words
 * @property {Record<"temperature" | "top_k" | "top_p", Slider>} sliders
 * @property {any} seed { value, ends, label, likeliest, drawn, seed }; value: null for the likeliest word
 * @property {{ columns: string[], layers: string[], title: string, rows: string } | null} cache
 * @property {Float32Array} numbers the bytes of the logits
 * @property {Float32Array} logits the logits
 * @property {Record<string, string>} palette
 * @property {any} text
 */

/** @typedef {{ value: number | null, ends: number[], label: string, all?: string }} Slider all: the text for no cut */

/** @param {import("../shared.js").Component<Uint8Array>} component data: a packed Words */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".writing");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  if (isDrawn(root, data)) return;
  /** @type {Words} */
  const shown = unpacked(data);
  shown.logits = floatsOf(shown.numbers);
  setColours(root, shown.palette, ["ground", "ink", "faint", "share", "x", "k", "v"]);
  const refocus = keepFocus(root);
  const { bars, follow } = barsOf(view, shown);
  const both = element("div", "both", [bars, controlsOf(view, shown, follow)]);
  root.replaceChildren(tilesOf(view, shown), both);
  if (shown.cache) root.append(shelvesOf(shown.cache));
  refocus();
}

// ---- the text -------------------------------------------------------------------------------------------------------
function tilesOf(view, { tiles, text }) {
  const made = tiles.map(({ word, kind }, place) => {
    const look = {
      textContent: kind === "blank" ? "____" : word, title: text.tiles, ariaLabel: word, place: `tile ${place}`,
      disabled: kind === "blank" || kind === "start",
    };
    return button(`tile ${kind}`, look, () => view.trigger("place", place));
  });
  return element("div", "tiles", { role: "group", ariaLabel: text.tiles }, made);
}

// ---- the next words -------------------------------------------------------------------------------------------------
// Returns the bars of the next words, and a function that updates them for other sampling settings.
function barsOf(view, { words, text, logits, sliders }) {
  const line = element("div", "line", text.cut);
  const rows = words.map((word) => rowOf(view, word, text));
  const bars = element("div", "bars", [element("h5", "", text.bars), ...rows]);
  const choices = { temperature: sliders.temperature.value, topK: sliders.top_k.value, topP: sliders.top_p.value };
  const show = (shares) => {
    const uncut = sharesOf(logits, { temperature: choices.temperature });
    rows.forEach((row, i) => showRow(row, shares[i], uncut[words[i].number]));
    const first = rows.find((row) => row.classList.contains("cut"));
    if (first) bars.insertBefore(line, first);
    else line.remove();
  };
  const follow = (changes) => {
    Object.assign(choices, changes);
    const shares = sharesOf(logits, choices);
    show(words.map(({ number }) => shares[number]));
  };
  show(words.map(({ share }) => share));
  return { bars, follow };
}

function rowOf(view, { word, number, cell }, text) {
  const title = said(text.pick, { word });
  const look = { textContent: word, title, ariaLabel: title, place: `word ${number}` };
  const pick = () => view.trigger("picked", number);
  return element("div", "row", [
    button("said", look, pick),
    button("track", { title, tabIndex: -1 }, pick, [element("span", "uncut"), element("span", "beam")]),
    button("cell", {}, () => view.trigger("opened", cell)),
  ]);
}

// Shows a word's probability; a word excluded by sampling is pale, with the probability before the exclusion.
function showRow(row, share, uncut) {
  row.classList.toggle("cut", share === 0);
  row.querySelector(".beam").style.width = 100 * share + "%";
  row.querySelector(".uncut").style.width = 100 * uncut + "%";
  row.querySelector(".cell").textContent = spellWholePercent(share);
}

// ---- controls -------------------------------------------------------------------------------------------------------
function controlsOf(view, { sliders, seed, text }, follow) {
  const choose = (choices) => view.trigger("choices", choices);
  const controls = element("div", "controls", [
    temperatureSlider(
      sliders.temperature, (temperature) => follow({ temperature }), (number) => choose({ word_temperature: number }),
    ),
    topKSlider(sliders.top_k, (topK) => follow({ topK }), (number) => choose({ top_k: number })),
    topPSlider(sliders.top_p, (topP) => follow({ topP }), (number) => choose({ top_p: number })),
  ]);
  const buttons = Object.entries(text.buttons).map(([name, label]) =>
    button(name === "word" ? "act first" : "act", { textContent: label, place: `act ${name}` }, () =>
      view.trigger("done", name)),
  );
  if (buttons.length) controls.append(seedOf(seed, choose), element("div", "buttons", buttons));
  return controls;
}

// Returns the slider of top-k; its last position keeps all words.
function topKSlider({ value, ends: [least, most], label, all }, drag, done) {
  return slider({
    name: "top_k",
    label,
    range: { min: least, max: most + 1, step: 1 },
    place: value ?? most + 1,
    numberAt: (place) => (place > most ? null : place),
    spell: (number) => (number === null ? all : String(number)),
    drag,
    done,
  });
}

function topPSlider({ value, ends: [least, most], label, all }, drag, done) {
  return slider({
    name: "top_p",
    label,
    range: { min: least, max: most, step: "any" },
    place: value,
    numberAt: (place) => Number(place.toFixed(2)),
    spell: (number) => (number === most ? all : String(number)),
    drag,
    done,
  });
}

// Returns the choice between the likeliest word and a sampled word, and the seed of the sampling.
function seedOf({ value, ends: [least, most], label, likeliest, drawn, seed }, choose) {
  const isDrawn = value !== null;
  const way = (text, isChosen, number) =>
    button("way", { textContent: text, ariaPressed: String(isChosen), place: `way ${text}` }, () =>
      choose({ word_seed: number }));
  const ways = [way(likeliest, !isDrawn, null), way(drawn, isDrawn, value ?? 1)];
  const group = element("div", "seed", { role: "group", ariaLabel: label }, ways);
  if (!isDrawn) return group;
  const input = element("input", "number", {
    type: "number", min: least, max: most, step: 1, value, ariaLabel: seed, place: "seed",
    onchange: () => choose({ word_seed: Number(input.value) }),
  });
  group.append(element("label", "line", [element("span", "", seed), input]));
  return group;
}

// ---- the cache ------------------------------------------------------------------------------------------------------
// Returns the KV cache as a table with a row per layer and a column per word; the last column is new.
// In each cell of the table, the word's key is above the word's value.
function shelvesOf({ columns, layers, title, rows }) {
  const shelves = layers.map((name) => {
    const kept = columns.map((word, t) =>
      element("span", t === columns.length - 1 ? "column new" : "column", { title: word }),
    );
    return element("div", "shelf", [element("span", "layer", name), element("div", "kept", kept)]);
  });
  return element("div", "cache", [element("h5", "", title), ...shelves, element("div", "rows", rows)]);
}
