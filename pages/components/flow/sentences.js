// Writes the texts about the picture: the headline above it, and the sentence about the keyframe below it.
// Screen readers also read these two texts.
import { setOnce, write } from "../dom.js";
import { shared } from "../shared.js";
import { BEFORE_MS } from "./changes.js";
import { totalOf } from "./twin.js";
import { fill, said, spellNumber, spellPercent } from "./words.js";

const MAX_HEARD_NUMBERS = 8; // most numbers of a vector that are read aloud
const EQUAL_GAP = 1e-9; // weights that differ by less count as equal, as in facts.py
const NEARLY_EVEN = 1.05; // weights count as uniform if the largest is below this multiple of the mean, as in facts.py

export class Sentences {
  // heard: the HTML element whose text a screen reader announces (an ARIA live region).
  // motive: the HTML element of the line below the headline on the workbench; it usually says why one attends.
  constructor(flow, headline, motive, caption, heard) {
    this.flow = flow;
    this.headline = headline;
    this.motive = motive;
    this.caption = caption;
    this.heard = heard;
    heard.setAttribute("role", "status");
  }

  say({ shares }, now) {
    const { flow } = this;
    const { text } = flow.data;
    const fact = this.fact();
    const isRandom = this.isRandom(shares, fact);
    const isHeads = flow.look.view === "heads";
    write(this.headline, this.remark() ?? (isHeads ? this.headsLine() : this.headlineOf(shares, fact, isRandom, now)));
    write(this.motive, [[this.lineBelow(now), ""]]);
    this.motive.hidden = !flow.data.hears;
    flow.root.classList.toggle("pale", isRandom);
    const row = flow.isDragged ? this.headline.textContent : fact?.text ?? this.headline.textContent;
    setOnce(flow.stage, "aria-label", `${row} ${flow.look.view === "map" ? text.map_keys : text.keys}`);
    const { stop } = flow.journey.told;
    flow.root.classList.toggle("underway", stop !== null && flow.look.view === "flow");
    write(this.caption, [[stop ? text.stops[stop.motion] : text.rest, ""]]);
    write(this.heard, [[stop ? `${row} ${text.stops[stop.motion]} ${this.result(stop)}` : row, ""]]);
  }

  // Returns the sentence for screen readers on the result that a keyframe ("stop") of the animation computes.
  // If the result is a vector, the sentence contains its first numbers for the query.
  // For scores or weights, the sentence contains the number of the key with the largest weight; otherwise it is "".
  result(stop) {
    const { snapshot, data, model, asking } = this.flow;
    const part = snapshot.parts.findLast(({ name, role }) => stop.parts.includes(name) && role !== "row");
    if (!part || stop.motion === "power" || part.role === "pairs") return "";
    const best = model.mostOf(snapshot.shares);
    const numbers = snapshot.numbers[part.name];
    const count = tiedWith(snapshot.shares, best);
    const percent = spellPercent(snapshot.shares[best]);
    const of = { step: part.label, query: asking, key: model.keys[best], percent, count };
    if (part.is_share) return said(count > 1 ? data.text.heard.tie : data.text.heard.share, of);
    if (part.role === "pair") return said(data.text.heard.pair, { ...of, number: spellNumber(numbers[best]) });
    const shown = Array.from(numbers.slice(0, MAX_HEARD_NUMBERS), spellNumber);
    return said(data.text.heard.vector, {
      ...of, numbers: `${shown.join(", ")}${numbers.length > shown.length ? ", …" : ""}`,
    });
  }

  // Returns a remark that replaces the headline: the server computes, or its numbers differ from the browser's.
  remark() {
    const { root, data, differs } = this.flow;
    if (root.classList.contains("waits")) return [[data.text.waits, "remark"]];
    if (!differs) return null;
    return [[said(data.text.differs, { step: data.steps[differs].label }), "remark differs"]];
  }

  // Returns whether the attention weights come from random numbers and mean nothing.
  // The server decides this for its own run; during a drag the browser does, because the headline's key may change.
  isRandom(shares, fact) {
    const { data, model, look, isDragged } = this.flow;
    if (fact?.random || !isDragged) return Boolean(fact?.random);
    const best = model.mostOf(shares);
    return data.origins.T[look.query] === "random" || data.origins.S[model.places[best]] === "random";
  }

  // Returns the headline of the view of all heads: how many maps it shows, and how to read them.
  headsLine() {
    const { data, asking } = this.flow;
    const { heads } = data.text;
    const { names } = data.layers;
    const inA = data.heads_of_a?.length;
    const isBoth = data.reads?.side === "together" && !names;
    const kind = isBoth ? "both" : names ? "layers" : data.random ? "random" : "all";
    const shown = data.no_difference && data.reads?.side === "a" ? inA : data.heads;
    const [layers, count] = [names?.length ?? 1, names?.[0].length ?? shown];
    const why = data.random ? heads.why_random : data.heads === 1 || data.no_difference ? heads.why_one : heads.why;
    const counted = said(heads[kind], { layers, count, a: inA, b: data.heads });
    return [[counted, "remark"], [said(why, { query: asking }), "aside why"]];
  }

  // Returns the headline: the query, the key with the largest attention weight, and the percentage of this weight.
  // If no key stands out, the headline is the server's sentence, or a shorter one during a drag.
  headlineOf(shares, fact, isRandom, now) {
    const { data, model, asking, isDragged } = this.flow;
    if (isDragged && isRandom) return [[fact?.random ? fact.text : data.text.random, "remark"]];
    const nowhere = isDragged && looksNowhere(shares);
    if (nowhere) return [...fill(data.text[nowhere], { query: [asking, "q"] }), ...this.sunk(shares, fact)];
    if (!fact?.clear && !isDragged) return [[fact?.text ?? "…", "remark"], ...this.beside(now)];
    const best = model.mostOf(shares);
    const count = tiedWith(shares, best);
    const said = {
      query: [asking, "q"], key: [model.keys[best], "share"], percent: [spellPercent(shares[best]), "share"],
      count: [String(count), "share"],
    };
    const template = count > 1 ? data.text.tied : data.text.headline;
    return [...fill(template, said), ...this.sunk(shares, fact), ...this.beside(now)];
  }

  // Returns the text on the percentage that an attention sink takes from all keys, or [] without a sink.
  sunk(shares, fact) {
    if (!fact?.sunk) return [];
    const share = this.flow.isDragged ? 1 - totalOf(shares) : fact.sunk;
    return [[said(this.flow.data.text.sunk, { percent: spellPercent(share) }), "aside"]];
  }

  // Returns the line below the headline: the percentage before a change, else why the app selected this word of a new
  // sentence as the query, else why one attends.
  lineBelow(now) {
    const { data, asking, isDragged } = this.flow;
    const why = isDragged ? "" : this.toldFact()?.why;
    return this.before(now) || why || said(data.text.motive, { query: asking });
  }

  // Returns the percentage before a change beside a headline that has no line below it.
  beside(now) {
    const before = this.flow.data.hears ? "" : this.before(now);
    return before ? [[before, "before"]] : [];
  }

  // Returns the text with the attention weight's percentage before a change; "" if the change is older than BEFORE_MS.
  // The text is "" also if the headline claims no percentage because the weights come from random numbers.
  before(now) {
    const { glow, data } = this.flow;
    if (!glow?.said || data.random || now - (glow.begun ?? now) >= BEFORE_MS) return "";
    return said(data.text.before, { percent: glow.said });
  }

  // Returns the facts about the selected row; in a run with many rows, the server sends them with the selection.
  fact() {
    const { data, look } = this.flow;
    return data.facts[look.head]?.[look.query] ?? this.toldFact();
  }

  // Returns the fact that the server sent with its last selection; null if another row is selected now.
  toldFact() {
    const { data, look } = this.flow;
    const told = data.hears ? shared.look : null;
    return told && told.head === look.head && told.query === look.query ? told.fact : null;
  }
}

// Returns how many shares are as large as the one at `best`, including that one.
const tiedWith = (shares, best) => shares.filter((share) => Math.abs(share - shares[best]) < EQUAL_GAP).length;

// Returns the key of a text: "nothing" for a row without positive weights, "evenly" for uniform weights, else null.
function looksNowhere(shares) {
  const possible = shares.filter((share) => share > 0);
  if (!possible.length) return "nothing";
  // the mean of the keys' weights; with an attention sink their sum is below 1
  const even = totalOf(possible) / possible.length;
  return possible.length > 1 && Math.max(...possible) < NEARLY_EVEN * even ? "evenly" : null;
}
