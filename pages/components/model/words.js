// The next word of a language model: the text so far, the likeliest words, the sampling controls, and the cache.
import { button, element, isDrawn, keepFocus, setColours, stateOf } from "../dom.js";
import { said, spellWholePercent } from "../flow/words.js";
import { unpacked } from "../pixels.js";
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
  shown.logits = new Float32Array(shown.numbers.slice().buffer);
  setColours(root, shown.palette, ["ground", "ink", "faint", "share", "x", "k", "v"]);
  const refocus = keepFocus(root);
  const bars = barsOf(view, shown);
  const both = element("div", "both");
  both.append(bars, controlsOf(view, shown, bars));
  root.replaceChildren(tilesOf(view, shown), both);
  if (shown.cache) root.append(shelvesOf(shown.cache));
  refocus();
}

// ---- the text -------------------------------------------------------------------------------------------------------
function tilesOf(view, { tiles, text }) {
  const line = element("div", "tiles", { role: "group" });
  line.setAttribute("aria-label", text.tiles);
  tiles.forEach(({ word, kind }, place) => {
    const tile = button(`tile ${kind}`, { textContent: kind === "blank" ? "____" : word, title: text.tiles }, () =>
      view.trigger("place", place),
    );
    tile.dataset.place = `tile ${place}`;
    tile.setAttribute("aria-label", word);
    tile.disabled = kind === "blank" || kind === "start";
    line.append(tile);
  });
  return line;
}

// ---- the next words -------------------------------------------------------------------------------------------------
function barsOf(view, { words, text, logits, sliders }) {
  const bars = element("div", "bars");
  const line = element("div", "line", text.cut);
  const rows = words.map((word) => rowOf(view, word, text));
  bars.append(element("h6", "", text.bars), ...rows);
  bars.choices = { temperature: sliders.temperature.value, topK: sliders.top_k.value, topP: sliders.top_p.value };
  bars.follow = (choices) => {
    Object.assign(bars.choices, choices);
    const shares = sharesOf(logits, bars.choices);
    show(rows.map(({ number }) => shares[number]));
  };
  const show = (shares) => {
    const uncut = sharesOf(logits, { temperature: bars.choices.temperature });
    rows.forEach((row, i) => showRow(row, shares[i], uncut[row.number]));
    const first = rows.find((row) => row.classList.contains("cut"));
    if (first) bars.insertBefore(line, first);
    else line.remove();
  };
  show(words.map(({ share }) => share));
  return bars;
}

function rowOf(view, { word, number, cell }, text) {
  const row = element("div", "row");
  row.number = number;
  const pick = button("said", { textContent: word, title: said(text.pick, { word }) }, () =>
    view.trigger("picked", number),
  );
  pick.setAttribute("aria-label", pick.title);
  pick.dataset.place = `word ${number}`;
  const track = button("track", { title: pick.title, tabIndex: -1 }, () => view.trigger("picked", number));
  track.append(element("span", "uncut"), element("span", "beam"));
  row.append(pick, track, button("cell", {}, () => view.trigger("opened", cell)));
  return row;
}

// Shows the share of a word; a word that is cut off is pale, with a bar of its share before the cut.
function showRow(row, share, uncut) {
  row.classList.toggle("cut", share === 0);
  row.querySelector(".beam").style.width = 100 * share + "%";
  row.querySelector(".uncut").style.width = 100 * uncut + "%";
  row.querySelector(".cell").textContent = spellWholePercent(share);
}

// ---- controls -------------------------------------------------------------------------------------------------------
function controlsOf(view, { sliders, seed, text }, bars) {
  const controls = element("div", "controls");
  const choose = (choices) => view.trigger("choices", choices);
  controls.append(
    temperatureSlider(
      sliders.temperature,
      (temperature) => bars.follow({ temperature }),
      (number) => choose({ word_temperature: number }),
    ),
    topKSlider(
      sliders.top_k,
      (topK) => bars.follow({ topK }),
      (number) => choose({ top_k: number }),
    ),
    topPSlider(
      sliders.top_p,
      (topP) => bars.follow({ topP }),
      (number) => choose({ top_p: number }),
    ),
  );
  if (!Object.keys(text.buttons).length) return controls;
  controls.append(seedOf(seed, choose));
  const buttons = element("div", "buttons");
  for (const [name, label] of Object.entries(text.buttons)) {
    const act = button(name === "word" ? "act first" : "act", { textContent: label }, () => view.trigger("done", name));
    act.dataset.place = `act ${name}`;
    buttons.append(act);
  }
  controls.append(buttons);
  return controls;
}

// The slider of top-k has one more position at its end, at which all words are kept.
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

// The choice between the likeliest word and a sampled word, with the seed of the sampling.
function seedOf({ value, ends: [least, most], label, likeliest, drawn, seed }, choose) {
  const isDrawn = value !== null;
  const group = element("div", "seed", { role: "group" });
  group.setAttribute("aria-label", label);
  const way = (text, isChosen, number) => {
    const made = button("way", { textContent: text, ariaPressed: String(isChosen) }, () =>
      choose({ word_seed: number }),
    );
    made.dataset.place = `way ${text}`;
    return made;
  };
  group.append(way(likeliest, !isDrawn, null), way(drawn, isDrawn, value ?? 1));
  if (!isDrawn) return group;
  const input = element("input", "number", { type: "number", min: least, max: most, step: 1, value });
  input.setAttribute("aria-label", seed);
  input.dataset.place = "seed";
  input.onchange = () => choose({ word_seed: Number(input.value) });
  const line = element("label", "line");
  line.append(element("span", "", seed), input);
  group.append(line);
  return group;
}

// ---- the cache ------------------------------------------------------------------------------------------------------
// The cache: a row per layer with a column per word, its key above its value; the last column is new.
function shelvesOf({ columns, layers, title, rows }) {
  const cache = element("div", "cache");
  cache.append(element("h6", "", title));
  for (const name of layers) {
    const shelf = element("div", "shelf");
    const kept = element("div", "kept");
    columns.forEach((word, t) =>
      kept.append(element("span", t === columns.length - 1 ? "column new" : "column", { title: word })),
    );
    shelf.append(element("span", "layer", name), kept);
    cache.append(shelf);
  }
  cache.append(element("div", "rows", rows));
  return cache;
}
