// Two lines of words, and threads between them, as thick as weights: who asks, and who is asked. data: { run, lines,
// names, ways, way, slider, hears, palette, text }. lines: the words of both; names: what they are called. ways: one,
// both directions, or one a position of a slider: { asks, chosen, weights, vectors }. asks: the line that asks, 0 or 1.
// weights: a row for each word that asks, null where it may not look. vectors: for each line rows of cells, { look,
// fills }: the symbol that frames them, each word's colours. hears: whether the server keeps the word that asks.
import { added, button, setColours, setOnce, svgShape } from "../dom.js";
import { said, spellNumber, spellWholePercent, textWidth } from "../flow/words.js";
import { followSlider } from "../live/position.js";
import { roving } from "../roving.js";

const WORD_PX = 20, CELL = 11, ROW = 16, LEAST_ROOM = 10; // px
const THICKEST = 16, THINNEST = 1.5; // px: of a weight of 1, and of 0
const FALL = 132; // px: from one line to the other

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".threads");
  if (root.run !== data.run) root.looked = null;
  Object.assign(root, { data, trigger: setTriggerValue, run: data.run, way: data.way });
  setColours(root, data.palette, ["ink", "faint", "share", "outline", "q", "k", "v", "x"]);
  if (!root.watch) {
    root.kept = new Map();
    root.svg = root.appendChild(svgShape("svg"));
    const line = added(root, "div", "line");
    root.turner = button("turn", {}, () => turn(root));
    line.append(root.turner);
    root.told = added(line, "div", "told");
    root.told.ariaLive = "polite";
    root.watch = new ResizeObserver(() => draw(root));
    root.watch.observe(root);
  }
  if (data.slider) followSlider(root.svg, data.slider, (way) => show(root, way ?? data.way));
  else show(root, data.way);
}

function show(root, way) {
  root.way = way;
  draw(root);
}

function draw(root) {
  const { data, svg, kept } = root;
  if (!root.clientWidth) return;
  const place = hasRoom(root) ? level(root) : upright(root);
  const used = new Set();
  // The same shape as before, where there was one: what changes of it moves.
  const shape = (key, kind, attributes, text) => {
    if (!kept.has(key)) kept.set(key, svgShape(kind));
    const made = kept.get(key);
    used.add(key);
    for (const [name, value] of Object.entries(attributes)) setOnce(made, name, value);
    if (text !== undefined && made.textContent !== text) made.textContent = text;
    return made;
  };
  roving(
    root,
    () => {
      const shapes = [...threads(root, place, shape), ...heads(root, place, shape), ...wordsOf(root, place, shape)];
      for (const key of kept.keys()) if (!used.has(key)) kept.get(key).remove() ?? kept.delete(key);
      const isNew = shapes.some((each) => each.parentNode !== svg);
      if (isNew) svg.replaceChildren(...shapes);
    },
    "[role=button]",
  );
  setOnce(svg, "viewBox", `0 0 ${root.clientWidth} ${place.height}`);
  setOnce(svg, "role", "group");
  setOnce(svg, "aria-label", data.text.alt);
  root.told.textContent = tell(root);
  root.turner.textContent = data.text.turn;
  root.turner.hidden = Boolean(data.slider) || data.ways.length < 2;
}

// ---- where everything stands ----------------------------------------------------------------------------------------
const hasRoom = ({ clientWidth, data }) =>
  data.lines.every((words) =>
    words.every((word) => textWidth(word, WORD_PX, 700) + LEAST_ROOM <= clientWidth / words.length),
  );

// One line above the other. side: 1 below the threads, -1 above them.
function level({ clientWidth: wide, data, way }) {
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
      return `M${x} ${y}C${x} ${(y + y2) / 2} ${x2} ${(y + y2) / 2} ${x2} ${y2}`;
    },
  };
}

// Side by side, where lines have no room: on a phone, or for long sentences.
function upright({ clientWidth: wide, data }) {
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

// ---- what is drawn --------------------------------------------------------------------------------------------------
const wayOf = (root) => root.data.ways[root.way];
const lookOf = (root) => root.looked ?? [wayOf(root).asks, wayOf(root).chosen];
const weightOf = ({ asks, weights }, [line, i], j) => (line === asks ? weights[i][j] : weights[j][i]);

function threads(root, place, shape) {
  const { asks, weights } = wayOf(root);
  const [line, at] = lookOf(root);
  const made = [];
  weights.forEach((row, i) =>
    row.forEach((weight, j) => {
      if (weight === null) return;
      const isLooked = (line === asks ? i : j) === at;
      const [top, bottom] = asks ? [j, i] : [i, j];
      const look = isLooked ? "thread now" : root.looked ? "thread away" : "thread";
      const wide = THINNEST + (THICKEST - THINNEST) * weight;
      const path = shape(`thread ${top} ${bottom}`, "path", {
        d: place.thread([0, top], [1, bottom]),
        class: look,
        "aria-label": `${root.data.lines[asks][i]} → ${root.data.lines[1 - asks][j]}: ${spellWholePercent(weight)}`,
        role: "img",
        style: `stroke-width:${wide}px;--strength:${0.1 + 0.9 * weight}`,
      });
      path.onclick = () => root.trigger("opened", [root.way, i, j]);
      made.push([isLooked, path]);
    }),
  );
  return made.sort(([one], [other]) => one - other).map(([, path]) => path); // those that are looked at on top
}

function heads(root, place, shape) {
  const { asks } = wayOf(root);
  return root.data.lines.map((_, line) => {
    const role = line === asks ? "asks" : "asked";
    const template = root.data.text[place.cells ? role : `${role}_short`];
    return shape(
      `head ${line}`, "text",
      { ...place.head(line), class: `head ${role}` },
      said(template, { line: root.data.names[line] }),
    );
  });
}

function wordsOf(root, place, shape) {
  const way = wayOf(root);
  const looked = lookOf(root);
  const made = [];
  root.data.lines.forEach((words, line) =>
    words.forEach((word, i) => {
      const isNow = looked[0] === line && looked[1] === i;
      const weight = looked[0] === line ? undefined : weightOf(way, looked, i);
      const isChosen = line === way.asks && i === way.chosen;
      const look = [
        "word",
        line === way.asks ? "asks" : "asked",
        isNow && "now",
        isChosen && "chosen",
        weight === null && "blocked",
      ];
      const said =
        weight === undefined
          ? word
          : `${word}: ${weight === null ? root.data.text.blocked : spellWholePercent(weight)}`;
      const text = shape(
        `word ${line} ${i}`, "text",
        { ...place.word(line, i), class: look.filter(Boolean).join(" "), role: "button", "aria-label": said },
        word,
      );
      follow(root, text, line, i);
      made.push(text);
      if (typeof weight === "number")
        made.push(
          shape(`share ${line} ${i}`, "text", { ...place.share(line, i), class: "much" }, spellWholePercent(weight)),
        );
      if (place.cells) made.push(...cellsOf(way.vectors[line], place, shape, line, i));
    }),
  );
  return made;
}

// The vectors of a word, a row of cells each, in the colour of its symbol.
function cellsOf(vectors, place, shape, line, i) {
  return vectors.flatMap(({ look, fills }, row) =>
    fills[i].map((fill, at) =>
      shape(`cell ${line} ${i} ${row} ${at}`, "rect", {
        ...place.cell(line, i, row, at, fills[i].length), width: CELL - 2, height: CELL, rx: 2, fill,
        stroke: `var(--${look})`,
      }),
    ),
  );
}

// ---- what a hand does -----------------------------------------------------------------------------------------------
// The other line asks.
function turn(root) {
  root.way = 1 - root.way;
  root.looked = null;
  draw(root);
  root.trigger("chosen", [root.way, wayOf(root).chosen]);
}

function follow(root, text, line, i) {
  const look = (looked) => {
    root.looked = looked;
    draw(root);
  };
  const choose = () => {
    if (line !== wayOf(root).asks) return look([line, i]);
    wayOf(root).chosen = i;
    look(null);
    if (root.data.hears) root.trigger("chosen", [root.way, i]);
  };
  text.onpointerenter = ({ pointerType }) => pointerType === "mouse" && look([line, i]);
  text.onpointerleave = ({ pointerType }) => pointerType === "mouse" && look(null);
  text.onfocus = () => text.matches(":focus-visible") && look([line, i]);
  text.onblur = () => root.looked && look(null);
  text.onclick = choose;
  text.onkeyup = ({ key }) => (key === "Enter" || key === " ") && choose();
}

// What the word that is looked at gives, or gets, in all.
function tell(root) {
  const way = wayOf(root);
  const [line, at] = lookOf(root);
  const weights = line === way.asks ? way.weights[at] : way.weights.map((row) => row[at]);
  const sum = spellNumber(weights.reduce((one, weight) => one + (weight ?? 0), 0));
  return said(root.data.text[line === way.asks ? "gives" : "gets"], { word: root.data.lines[line][at], sum });
}
