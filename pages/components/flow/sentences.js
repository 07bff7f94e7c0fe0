// What is said of the picture: the headline over it, what happens at a stop under it, and both to a screen reader.
import { setOnce, write } from "../dom.js";
import { shared } from "../shared.js";
import { BEFORE_MS } from "./changes.js";
import { sum } from "./twin.js";
import { fill, said, spellNumber, spellPercent } from "./words.js";

const MAX_HEARD_NUMBERS = 8; // of a vector
const NEARLY_EVEN = 1.05; // times an even share, as in facts.py

export class Sentences {
  // heard: by a screen reader.
  constructor(flow, headline, caption, heard) {
    this.flow = flow;
    this.headline = headline;
    this.caption = caption;
    this.heard = heard;
    heard.setAttribute("role", "status");
  }

  say({ shares }, now) {
    const { flow } = this;
    const { text } = flow.data;
    const fact = this.fact();
    const isRandom = this.isRandom(shares, fact);
    write(this.headline, this.remark() ?? this.headlineOf(shares, fact, isRandom, now));
    flow.root.classList.toggle("pale", isRandom);
    const row = flow.isDragged ? this.headline.textContent : fact?.text ?? this.headline.textContent;
    setOnce(flow.stage, "aria-label", `${row} ${flow.look.view === "map" ? text.map_keys : text.keys}`);
    const { stop } = flow.journey.told;
    flow.root.classList.toggle("underway", stop !== null && flow.look.view === "flow");
    write(this.caption, [[stop ? text.stops[stop.motion] : text.rest, ""]]);
    write(this.heard, [[stop ? `${row} ${text.stops[stop.motion]} ${this.result(stop)}` : row, ""]]);
  }

  // What comes of a stop, in numbers: of the query, and of the key that gets most.
  result(stop) {
    const { snapshot, data, model, asking } = this.flow;
    const part = snapshot.parts.findLast(({ name, role }) => stop.parts.includes(name) && role !== "row");
    if (!part || stop.motion === "power" || part.role === "pairs") return "";
    const best = model.mostOf(snapshot.shares);
    const numbers = snapshot.numbers[part.name];
    const of = { step: part.label, query: asking, key: model.keys[best], percent: spellPercent(snapshot.shares[best]) };
    if (part.is_share) return said(data.text.heard.share, of);
    if (part.role === "pair") return said(data.text.heard.pair, { ...of, number: spellNumber(numbers[best]) });
    const shown = Array.from(numbers.slice(0, MAX_HEARD_NUMBERS), spellNumber);
    return said(data.text.heard.vector, {
      ...of, numbers: `${shown.join(", ")}${numbers.length > shown.length ? ", …" : ""}`,
    });
  }

  // What has to be said before anything else.
  remark() {
    const { root, data, differs } = this.flow;
    if (root.classList.contains("waits")) return [[data.text.waits, "remark"]];
    if (!differs) return null;
    return [[said(data.text.differs, { step: data.steps[differs].label }), "remark differs"]];
  }

  // Whether the shares come of random numbers, so that no claim may be made: the server says it of its own numbers. A
  // drag can give the most to another word.
  isRandom(shares, fact) {
    const { data, model, look, isDragged } = this.flow;
    if (fact?.random || !isDragged) return Boolean(fact?.random);
    const best = model.mostOf(shares);
    return data.origins.T[look.query] === "random" || data.origins.S[model.places[best]] === "random";
  }

  // Where the row looks; of one that looks nowhere in particular the sentence of the server, or while a hand drags a
  // shorter one.
  headlineOf(shares, fact, isRandom, now) {
    const { data, model, asking, isDragged, glow } = this.flow;
    if (isDragged && isRandom) return [[fact?.random ? fact.text : data.text.random, "remark"]];
    const nowhere = isDragged && looksNowhere(shares);
    if (nowhere) return [...fill(data.text[nowhere], { query: [asking, "q"] }), ...this.sunk(shares, fact)];
    if (!fact?.clear && !isDragged) return [[fact?.text ?? "…", "remark"], ...this.why(), ...this.before(glow, now)];
    const best = model.mostOf(shares);
    const said = {
      query: [asking, "q"], key: [model.keys[best], "share"], percent: [spellPercent(shares[best]), "share"],
    };
    return [...fill(data.text.headline, said), ...this.sunk(shares, fact), ...this.why(), ...this.before(glow, now)];
  }

  // What a sink takes, which goes to no key.
  sunk(shares, fact) {
    if (!fact?.sunk) return [];
    const share = this.flow.isDragged ? 1 - sum(shares.length, (i) => shares[i]) : fact.sunk;
    return [[said(this.flow.data.text.sunk, { percent: spellPercent(share) }), "aside"]];
  }

  // Why this word of a new sentence asks, and no other.
  why() {
    const why = this.flow.isDragged ? null : this.toldFact()?.why;
    return why ? [[why, "aside why"]] : [];
  }

  // What it said before a change, for a moment.
  before(glow, now) {
    if (!glow?.said || now - (glow.begun ?? now) >= BEFORE_MS) return [];
    return [[said(this.flow.data.text.before, { percent: glow.said }), "before"]];
  }

  // What the row that is looked at does: of many rows the server tells it with the look.
  fact() {
    const { data, look } = this.flow;
    return data.facts[look.head]?.[look.query] ?? this.toldFact();
  }

  // What the server says of the row with the look, if it speaks of this row.
  toldFact() {
    const { data, look } = this.flow;
    const told = data.hears ? shared.look : null;
    return told?.head === look.head && told?.query === look.query ? told.fact : null;
  }
}

// How a row is told that looks at no key more than at the others that it may attend to, or null.
function looksNowhere(shares) {
  const possible = shares.filter((share) => share > 0);
  if (!possible.length) return "nothing";
  const even = sum(possible.length, (i) => possible[i]) / possible.length; // a sink may take the rest
  return possible.length > 1 && Math.max(...possible) < NEARLY_EVEN * even ? "evenly" : null;
}
