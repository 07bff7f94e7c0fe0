// Shows cross-attention as two lines of words, with connecting lines as thick as the weights between words.
import { button, classes, element, onResize, setColours, stateOf } from "../dom.js";
import { said, spellNumber, spellWholePercent, textWidth } from "../flow/words.js";
import { writeFormula } from "../formula.js";
import { followSlider } from "../live/position.js";
import { curve, listenToWord, WordPicture } from "./word_picture.js";

/** @typedef {import("../live/position.js").Sliders} Sliders */

/**
 * @typedef {object} Threads
 * @property {string} run the identity of the run; a new run resets the hovered word
 * @property {string[][]} lines the words of both lines
 * @property {string[]} names the names of the lines
 * @property {Way[]} ways one way, one per direction, or one per position of a slider
 * @property {number} way the index of the shown way
 * @property {Sliders | null} slider
 * @property {boolean} hears whether the server stores the selected query
 * @property {Record<string, string>} palette
 * @property {Record<string, string>} text
 */

/**
 * @typedef {object} Way
 * @property {0 | 1} asks the line with the queries
 * @property {number} chosen the selected query, an index in that line
 * @property {(number | null)[][]} weights a row of weights for each query; null for a blocked key
 * @property {{ look: string, fills: string[][] }[][]} vectors the vectors under each line. look: the symbol whose
 *   colour frames the cells; fills: the colours of the cells of each word
 */

const WORD_PX = 20, CELL = 11, ROW = 16, LEAST_ROOM = 10; // px: font size, cell, row of cells, space between words
const THICKEST = 16, THINNEST = 1.5; // px: line width for weight 1, and for weight 0
const FALL = 132; // px: the vertical distance between the two lines of words

/**
 * @typedef {object} View the state that is kept between two calls
 * @property {HTMLElement} root
 * @property {Threads} data
 * @property {(event: string, value: unknown) => void} trigger
 * @property {WordPicture} picture
 * @property {HTMLElement} told
 * @property {HTMLElement} turner the button that exchanges the lines
 * @property {string} run
 * @property {number} way
 * @property {number[] | null} looked the line and the word that are hovered or focused
 */

/** @param {import("../shared.js").Component<Threads>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".threads");
  /** @type {View} */
  const view = stateOf(root);
  if (view.run !== data.run) view.looked = null;
  Object.assign(view, { data, trigger: setTriggerValue, run: data.run, way: data.way });
  setColours(root, data.palette, ["ink", "faint", "share", "outline", "q", "k", "v", "x"]);
  if (!view.picture) {
    view.picture = new WordPicture(root);
    view.turner = button("turn", {}, () => turn(view));
    view.told = element("div", "told", { ariaLive: "polite" });
    root.append(element("div", "line", [view.turner, view.told]));
  }
  onResize(root, () => draw(view));
  if (data.slider) followSlider(view.picture.svg, data.slider, (way) => show(view, way ?? data.way));
  else show(view, data.way);
}

/** @param {View} view */
function show(view, way) {
  view.way = way;
  draw(view);
}

/** @param {View} view */
function draw(view) {
  const { data, picture } = view;
  const { clientWidth: wide } = view.root;
  if (!wide) return;
  const place = hasRoom(data, wide) ? level(view, wide) : upright(data, wide);
  const make = () => [...threads(view, place), ...heads(view, place), ...wordsOf(view, place)];
  picture.draw({ height: place.height, label: data.text.alt }, make, (svg, shapes) => {
    const isNew = shapes.some((each) => each.parentNode !== svg);
    if (isNew) svg.replaceChildren(...shapes);
  });
  view.told.textContent = tell(view);
  view.turner.textContent = data.text.turn;
  view.turner.hidden = Boolean(data.slider) || data.ways.length < 2;
}

// ---- layout ---------------------------------------------------------------------------------------------------------
const hasRoom = ({ lines }, wide) =>
  lines.every((words) => words.every((word) => textWidth(word, WORD_PX, 700) + LEAST_ROOM <= wide / words.length));

// Returns the layout of the two lines of words, one above the other.
// side: 1 for the words below the connecting lines, -1 for those above them.
function level({ data, way }, wide) {
  const rows = Math.max(...data.ways[way].vectors.map((each) => each.length));
  const top = 76 + rows * ROW;
  const along = (line, i) => ((i + 0.5) * wide) / data.lines[line].length;
  const edge = (line) => top + line * FALL;
  const side = (line) => (line ? 1 : -1);
  return {
    height: 2 * top + FALL,
    cells: true,
    head: (line) => ({ x: 0, y: line ? 2 * top + FALL - 6 : 14 }),
    word: (line, i) => ({ x: along(line, i), y: edge(line) + side(line) * 34 + 7, "text-anchor": "middle" }),
    share: (line, i) => ({ x: along(line, i), y: edge(line) + side(line) * 12 + 5, "text-anchor": "middle" }),
    cell: (line, i, row, at, count) => ({
      x: along(line, i) + (at - count / 2) * CELL,
      y: edge(line) + side(line) * (58 + row * ROW) - CELL / 2,
    }),
    thread: ([one, i], [other, j]) => {
      const [x, y] = [along(one, i), edge(one) - side(one) * 6];
      const [x2, y2] = [along(other, j), edge(other) - side(other) * 6];
      return curve(x, y, x2, y2);
    },
  };
}

// Returns the layout with both sentences as columns side by side, for a phone or long sentences.
function upright(data, wide) {
  const row = 30, top = 44;
  const down = (i) => top + row * i;
  const longest = Math.max(...data.lines.map((words) => words.length));
  const middle = wide / 2, reach = Math.min(middle * 0.42, 120);
  const inner = (line) => middle + (line ? reach : -reach);
  return {
    height: down(longest),
    cells: false,
    head: (line) => ({ x: line ? middle + 12 : middle - 12, y: 16, "text-anchor": line ? "start" : "end" }),
    word: (line, i) => ({ x: inner(line), y: down(i) + 6, "text-anchor": line ? "start" : "end" }),
    share: (line, i) => ({ x: line ? wide : 0, y: down(i) + 5, "text-anchor": line ? "end" : "start" }),
    thread: ([one, i], [other, j]) => {
      const [x, x2] = [inner(one) + (one ? -8 : 8), inner(other) + (other ? -8 : 8)];
      return `M${x} ${down(i)}C${middle} ${down(i)} ${middle} ${down(j)} ${x2} ${down(j)}`;
    },
  };
}

// ---- drawing --------------------------------------------------------------------------------------------------------
const wayOf = (view) => view.data.ways[view.way];
const lookOf = (view) => view.looked ?? [wayOf(view).asks, wayOf(view).chosen];
const weightOf = ({ asks, weights }, [line, i], j) => (line === asks ? weights[i][j] : weights[j][i]);

/** @param {View} view */
function threads(view, place) {
  const { picture } = view;
  const { asks, weights } = wayOf(view);
  const [line, at] = lookOf(view);
  const made = [];
  weights.forEach((row, i) =>
    row.forEach((weight, j) => {
      if (weight === null) return;
      const isLooked = (line === asks ? i : j) === at;
      const [top, bottom] = asks ? [j, i] : [i, j];
      const look = isLooked ? "thread now" : view.looked ? "thread away" : "thread";
      const wide = THINNEST + (THICKEST - THINNEST) * weight;
      const path = picture.put(`thread ${top} ${bottom}`, "path", {
        d: place.thread([0, top], [1, bottom]),
        class: look,
        "aria-label": `${view.data.lines[asks][i]} → ${view.data.lines[1 - asks][j]}: ${spellWholePercent(weight)}`,
        role: "img",
        style: `stroke-width:${wide}px;--strength:${0.1 + 0.9 * weight}`,
      });
      path.onclick = () => view.trigger("opened", [view.way, i, j]);
      made.push([isLooked, path]);
    }),
  );
  // the selected word's lines are drawn last, on top
  return made.sort(([one], [other]) => one - other).map(([, path]) => path);
}

/** @param {View} view */
function heads(view, place) {
  const { picture } = view;
  const { asks } = wayOf(view);
  return view.data.lines.map((_, line) => {
    const role = line === asks ? "asks" : "asked";
    const template = view.data.text[place.cells ? role : `${role}_short`];
    const look = { ...place.head(line), class: `head ${role}` };
    const text = picture.put(`head ${line}`, "text", look);
    writeFormula(text, said(template, { line: view.data.names[line] }));
    return text;
  });
}

/** @param {View} view */
function wordsOf(view, place) {
  const { picture } = view;
  const way = wayOf(view);
  const looked = lookOf(view);
  const made = [];
  view.data.lines.forEach((words, line) =>
    words.forEach((word, i) => {
      const isNow = looked[0] === line && looked[1] === i;
      const weight = looked[0] === line ? undefined : weightOf(way, looked, i);
      const isChosen = line === way.asks && i === way.chosen;
      const role = line === way.asks ? "asks" : "asked";
      const share = weight === null ? view.data.text.blocked : spellWholePercent(weight);
      const attributes = {
        ...place.word(line, i), role: "button",
        class: classes("word", role, isNow && "now", isChosen && "chosen", weight === null && "blocked"),
        "aria-label": weight === undefined ? word : `${word}: ${share}`,
      };
      const text = picture.put(`word ${line} ${i}`, "text", attributes, word);
      follow(view, text, line, i);
      made.push(text);
      if (typeof weight === "number") {
        const at = { ...place.share(line, i), class: "much" };
        made.push(picture.put(`share ${line} ${i}`, "text", at, share));
      }
      if (place.cells) made.push(...cellsOf(view, way.vectors[line], place, line, i));
    }),
  );
  return made;
}

/** The vectors of a word, each as a row of cells framed in the colour of its symbol. @param {View} view */
function cellsOf(view, vectors, place, line, i) {
  const { picture } = view;
  return vectors.flatMap(({ look, fills }, row) =>
    fills[i].map((fill, at) =>
      picture.put(`cell ${line} ${i} ${row} ${at}`, "rect", {
        ...place.cell(line, i, row, at, fills[i].length), width: CELL - 2, height: CELL, rx: 2, fill,
        stroke: `var(--${look})`,
      }),
    ),
  );
}

// ---- input ----------------------------------------------------------------------------------------------------------
/** Exchanges the lines of queries and keys. @param {View} view */
function turn(view) {
  view.way = 1 - view.way;
  view.looked = null;
  draw(view);
  view.trigger("chosen", [view.way, wayOf(view).chosen]);
}

/** @param {View} view */
function follow(view, text, line, i) {
  const look = (looked) => {
    view.looked = looked;
    draw(view);
  };
  const choose = () => {
    if (line !== wayOf(view).asks) return look([line, i]);
    wayOf(view).chosen = i;
    look(null);
    if (view.data.hears) view.trigger("chosen", [view.way, i]);
  };
  listenToWord(text, { look: () => look([line, i]), leave: () => view.looked && look(null), choose });
}

/** The sentence on the total weight that the selected word gives or gets. @param {View} view */
function tell(view) {
  const way = wayOf(view);
  const [line, at] = lookOf(view);
  const weights = line === way.asks ? way.weights[at] : way.weights.map((row) => row[at]);
  const sum = spellNumber(weights.reduce((one, weight) => one + (weight ?? 0), 0));
  return said(view.data.text[line === way.asks ? "gives" : "gets"], { word: view.data.lines[line][at], sum });
}
