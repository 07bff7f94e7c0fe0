// Draws the view of all heads: a tile with the attention map of each head, and a large map of the selected head.
// Two selected heads are shown as a difference, A minus B, which the browser computes without the server.
import { added, button, element, focused, setOnce, write } from "../dom.js";
import { MOVES } from "../drag.js";
import { MapOptions } from "../map_options.js";
import { readCells } from "../model/maps.js";
import { roving } from "../roving.js";
import { hintOf } from "../touch.js";
import { HeadMap } from "./head_map.js";
import { BesideMaps, SIDES } from "./heads_beside.js";
import { EDGE, LAYER_NAME, placeHeads } from "./heads_layout.js";
import { fullColour, readMap } from "./model.js";
import { finite } from "./motion.js";
import { readHeads, smallHeads } from "./views.js";
import { fill, isAlike, said, spellNumber, spellPercent, spellWholePercent, textWidth } from "./words.js";

/** @typedef {import("./model.js").Matrix} Matrix */

const ABOVE = 214; // px: height of everything above the view on the workbench, also while the page is scrolled
const LEAST_HEIGHT = 420; // px
const TEXTS_HEIGHT = 92; // px: height of the title and the legend of the large map, with the gaps between them
const BELOW = 12; // px: margin below a single map
const SAME = 0.005; // weights that differ by less are called equal
const [NAME_SIZE, NAME_GAP] = [13, 8]; // px: font size of a tile's name, and the gap between its parts

export class HeadsView {
  constructor(root, flow) {
    this.root = root;
    this.flow = flow;
    this.pair = []; // keys of the heads selected in this view: A and, for a difference, B
    this.asked = null; // key of the selected head until the server has opened it
    this.kept = null; // key of the second head in the link until the view is drawn
    this.cell = [0, 0]; // the cell of the large map whose numbers were shown last
    this.height = LEAST_HEIGHT;
    this.width = 0; // px: width of the view; 0 while it is hidden
    /** @type {{ width: number, height: number } | null} */
    this.fixed = null; // size in px of the view in an exported file; null on the page, where the window limits it
    new ResizeObserver(() => this.resized()).observe(root);
    this.options = new MapOptions(
      added(this.root, "div"),
      (reading) => this.read(reading),
      () => this.maps.findIndex((map) => String(map.key) === this.now),
      {
        changed: () => this.flow.ask(),
        sendSide: (side) => this.flow.exchange.tell("side", side),
      },
    );
    this.unread = added(this.root, "p", "unread"); // the text that says why the options of maps are not available
    this.grid = added(this.root, "div", "grid");
    this.grid.setAttribute("role", "group");
    /** @type {{ key: string, button: HTMLButtonElement, map: HeadMap }[]} */
    this.tiles = [];
    this.large = added(this.root, "div", "large");
    this.title = added(this.large, "p", "title");
    this.differ = added(this.large, "p", "differ"); // the text about the settings in which A and B differ
    this.told = added(this.large, "p", "told");
    /** @type {HTMLElement} */
    this.frame = added(this.large, "div", "reader", { tabIndex: 0, role: "application" });
    this.largeMap = new HeadMap(added(this.frame, "div"));
    this.beside = new BesideMaps(added(this.large, "div", "runs"), {
      tell: (row, column, side) => this.tellSides(row, column, side),
      act: (row, side) => this.isUnlike && side === "a" ? null : this.flow.lookAt({ query: row }),
    });
    this.legend = added(this.large, "p", "legend");
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.grid.addEventListener("focusin", ({ target }) => this.stopAt(target));
  }

  /** Draws the view if it is selected, else hides it; called in every animation frame. */
  draw() {
    const { flow } = this;
    const isSeen = flow.look.view === "heads";
    flow.root.classList.toggle("allheads", isSeen);
    this.root.hidden = !isSeen;
    if (!isSeen) {
      this.pair = [];
      this.shows = null;
      return;
    }
    if (this.asked === String(flow.headKey)) this.asked = null;
    if (this.kept) this.pair = [this.now, this.kept];
    this.kept = null;
    const { data, model, look } = flow;
    const told = this.sentenceOfHead();
    this.options.show(data.reads);
    write(this.unread, [[data.unread ?? "", ""]]);
    this.unread.hidden = !data.unread;
    const place = [look.query, look.batch, this.now, String(this.pair)];
    const shows = [data.digest, model.steps, told, this.width, this.options.height, ...place];
    if (this.shows?.every((each, i) => each === shows[i])) return;
    this.shows = shows;
    this.own = smallHeads(flow);
    this.maps = readHeads(flow);
    if (!this.isUnlike) this.pair = this.pair.filter((key) => this.maps.some((each) => String(each.key) === key));
    this.place();
    this.fillGrid();
    this.drawTiles();
    this.drawLarge();
  }

  // ---- the link -----------------------------------------------------------------------------------------------------
  /**
   * The name of the view in the link: "heads", or "heads-1" and "heads-2.1" with the key of the second head; if the
   * compared runs have no difference, with the index of the head of A.
   */
  get linkName() {
    const second = this.isUnlike ? this.pair[1] : this.other;
    return second ? `heads-${second}` : "heads";
  }

  /** Shows the second head that the link names, if any. @param {string | null} stop the name of the view in the link */
  follow(stop) {
    this.kept = stop?.startsWith("heads-") ? stop.slice("heads-".length) : null;
    if (!this.kept && this.pair[1]) this.pair = [];
  }

  // ---- which heads --------------------------------------------------------------------------------------------------
  /** The key of the selected head; of a difference, the key of head A. */
  get now() {
    return this.asked ?? String(this.flow.headKey);
  }

  get other() {
    return this.mean.length || this.isUnlike ? null : this.pair[1] ?? null;
  }

  // Returns whether the compared runs A and B have maps of different shapes, so that no difference can be shown.
  get isUnlike() {
    return Boolean(this.flow.data?.no_difference);
  }

  // Returns the index of the head of A beside the selected head of B.
  // The head of A has the same number if A has as many heads; otherwise it is the one that the visitor clicked.
  get headOfA() {
    const last = this.flow.data.heads_of_a.length - 1;
    if (!this.isUnlike || this.own.length === last + 1) return this.chosen;
    return Math.min(Number(this.pair[1] ?? this.chosen), last);
  }

  // Returns the indices of the heads whose maps are averaged; [] if no mean is shown.
  get mean() {
    return this.flow.data?.read ? this.flow.data.reads.chosen.mean : [];
  }

  // Selects a head; the second one is subtracted from the first, and a third one starts a new selection.
  press(key, isShift) {
    if (this.mean.length) {
      this.options.toggle(this.maps.findIndex((map) => String(map.key) === key));
      return;
    }
    if (this.isUnlike) {
      this.pressUnlike(key);
      return;
    }
    const [first] = this.pair.length === 1 ? this.pair : isShift ? [this.now] : [];
    if (first && first !== key) this.compare(first, key);
    else this.choose(key);
  }

  // Chooses a head of A or of B; if both have as many heads, it is chosen in both.
  pressUnlike(key) {
    const { inA } = this.maps.find((map) => String(map.key) === key);
    const isPaired = this.own.length === this.flow.data.heads_of_a.length;
    if (inA === undefined) this.choose(key, this.pair[1]); // the head of A stays the same
    else if (isPaired) this.choose(String(this.own[inA].key));
    else this.choose(this.now, String(inA));
  }

  choose(key, second = "") {
    this.pair = second ? [key, second] : [key];
    if (key !== this.now) {
      this.asked = key;
      this.flow.chooseHead(key);
    } else this.flow.exchange.tellLook();
    this.flow.ask();
  }

  compare(first, second) {
    if (this.flow.data.read?.kind === "change") return this.choose(second); // a view of changes has no second head
    this.pair = [first, second];
    this.flow.exchange.tellLook();
    this.flow.ask();
  }

  // Shift and an arrow key subtract the newly focused head from the selected one; Escape ends the difference.
  key(event) {
    if (this.isUnlike) return;
    if (event.key === "Escape" && this.other) this.pair = this.pair.slice(0, 1);
    else if (event.shiftKey && event.key in MOVES && this.tiles.some((tile) => tile.button === event.target)) {
      const tile = this.tiles.find(({ button }) => button === focused(this.root));
      this.pair = tile && tile.key !== this.now ? [this.now, tile.key] : [this.now];
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.flow.exchange.tellLook();
    this.flow.ask();
  }

  resized() {
    this.width = Math.floor(this.root.getBoundingClientRect().width); // clientWidth may be rounded up
    if (this.width) this.flow.ask();
  }

  // Requests the maps under other options from the server; a selection that was not sent yet is sent first.
  read(reading) {
    const { exchange } = this.flow;
    exchange.resting.end();
    exchange.tell("maps", reading);
  }

  // ---- the tiles ----------------------------------------------------------------------------------------------------
  place() {
    const { flow } = this;
    const { data } = flow;
    const { width, height } = this.fixed ?? this.sizeInWindow();
    const inLayer = data.layers.now && !this.isLettered ? data.layers.names[0].length : null;
    /** @type {import("./heads_layout.js").HeadsLayout} */
    this.room = placeHeads({
      counts: this.countGroups(), inLayer, width, height, hasLarge: !this.isPlain,
      beside: this.isBeside ? (this.isUnlike ? 2 : 3) : 0,
    });
    this.height = height;
  }

  // Returns whether a file needs the tiles alone, because the large map would only repeat one of them.
  get isPlain() {
    return this.fixed !== null && this.maps.length > 1 && !this.flow.data.read && !this.other && !this.isBeside;
  }

  // Returns the number of maps in each group if the tiles of two runs are shown, else that of all maps.
  countGroups() {
    if (!this.isLettered) return [this.maps.length];
    return [...Map.groupBy(this.maps, ({ group }) => group).values()].map((each) => each.length);
  }

  // Returns whether the tiles of two runs are shown, the tiles of one run below those of the other.
  get isLettered() {
    return this.flow.data.reads?.side === "together";
  }

  sizeInWindow() {
    const above = Math.max(ABOVE, this.root.getBoundingClientRect().top) + this.options.height;
    const height = Math.max(LEAST_HEIGHT, window.innerHeight - above);
    return { width: this.width || this.flow.root.clientWidth, height };
  }

  // Creates the tiles if the names of the heads have changed.
  fillGrid() {
    const { flow, grid, maps, room } = this;
    const { columns, wide, isWide, height } = room;
    // whether each layer's name is beside its heads
    const isNamed = isWide && !this.isLettered && Boolean(maps[0].group);
    const tile = wide + 2 * EDGE;
    setOnce(grid, "style",
      `grid-template-columns: ${isNamed ? `${LAYER_NAME}px ` : ""}repeat(${columns}, ${tile}px);` +
      (height ? `max-height: ${height}px; overflow-y: auto` : ""));
    this.root.classList.toggle("wide", isWide);
    this.root.classList.toggle("lettered", this.isLettered);
    grid.hidden = maps.length === 1; // a single map is drawn large, not as a tile
    const names = maps.map(({ key, title, group }) => ({ key, title, group }));
    if (isAlike(names, this.names)) return;
    this.names = names;
    grid.setAttribute("aria-label", flow.data.text.heads.label);
    roving(grid, () => this.makeTiles(maps), "button", () => this.room.columns);
  }

  makeTiles(maps) {
    this.tiles = maps.map(({ key, title }) => {
      const map = element("div");
      const made = button("tile", { title }, (event) => this.press(String(key), event.shiftKey), [
        element("span", "tilename"), map,
      ]);
      made.dataset.place = `head ${key}`;
      return { key: String(key), button: made, map: new HeadMap(map) };
    });
    const groups = Map.groupBy(this.tiles, (_, i) => maps[i].group ?? "");
    const parts = [...groups].flatMap(([name, tiles]) =>
      [...(name ? [element("span", "layer", name)] : []), ...tiles.map((tile) => tile.button)],
    );
    this.grid.replaceChildren(...parts);
  }

  // Lets the Tab key reach the tile that has the focus, and no other.
  stopAt(focus) {
    for (const { button } of this.tiles) button.tabIndex = button === focus ? 0 : -1;
  }

  drawTiles() {
    const { flow, room } = this;
    const { palette } = flow.data;
    const { wide, tall } = room;
    this.maps.forEach(({ matrix, caption, waits }, i) => {
      const { button, map } = this.tiles[i];
      const mark = this.markOf(this.maps[i]);
      const named = this.other && mark ? [[mark, `mark ${mark}`], ...caption] : caption;
      const isWhole = flow.data.layers.now || fitsTile(named, wide); // the names of a layer's heads are shortened
      write(button.children[0], isWhole ? named : named.filter(([, kind]) => kind !== "habit"));
      setOnce(button, "aria-pressed", String(Boolean(mark)));
      button.classList.toggle("other", mark === "B");
      button.classList.toggle("waits", Boolean(waits));
      if (!waits) map.draw({ ...this.marksOf(this.maps[i]), matrix, palette, width: wide, height: tall });
    });
  }

  // Returns "A" for the selected head, "B" for the head that is subtracted from it, "" for any other.
  markOf({ key: own, inA }) {
    const key = String(own);
    if (this.mean.length) return this.mean.some((i) => String(this.maps[i].key) === key) ? "A" : "";
    if (inA !== undefined) return inA === this.headOfA ? "A" : "";
    if (key === (this.other ? this.pair[0] : this.now)) return "A";
    return key === this.other ? "B" : "";
  }

  // Returns the marks of a map: the words beside it, and where the query's row starts and how high it is, as fractions.
  // The map of a large run has fewer rows than there are words, and therefore gets no words.
  marksOf({ matrix: { rows, columns }, inA = undefined }) {
    const { T, S } = this.wordsOf(inA === undefined ? "" : "a");
    const query = inA === undefined ? this.flow.look.query : this.rowInA();
    const row = query < 0 ? null : { start: Math.floor((query * rows) / T.length) / rows, size: 1 / rows };
    return { row, words: T.length === rows && S.length === columns ? { rows: T, columns: S } : null };
  }

  // Returns the row of A with the word of the selected query of B, the same one of equal words; -1 if A has none.
  rowInA() {
    const { look, data, asking } = this.flow;
    if (!this.isUnlike) return look.query;
    const nth = data.words.T.slice(0, look.query).filter((word) => word === asking).length;
    const places = [...this.wordsOf("a").T.entries()].filter(([, word]) => word === asking);
    return places[nth]?.[0] ?? -1;
  }

  // Returns the words of the rows and of the columns of the shown maps, or of one side of the comparison.
  wordsOf(side) {
    const { read, words, sides } = this.flow.data;
    const described = sides?.[side] ?? read;
    return described ? { T: described.rows, S: described.columns } : words;
  }

  // ---- the large map ------------------------------------------------------------------------------------------------
  drawLarge() {
    const { flow, room, height } = this;
    const { text, palette } = flow.data;
    this.root.classList.toggle("compared", this.isBeside);
    write(this.differ, (flow.data.differ ?? []).map((each, i) => [each, i % 2 ? "bold" : ""]));
    this.differ.hidden = !flow.data.differ;
    this.frame.hidden = this.isBeside;
    this.beside.root.hidden = !this.isBeside;
    if (this.isBeside) {
      this.drawBeside();
      return;
    }
    this.title.hidden = this.told.hidden = false;
    const matrix = this.largeMatrix();
    const isDifference = this.other !== null;
    write(this.title, this.titleOfMap());
    write(this.told, isDifference ? this.rowOfDifference() : [[this.sentenceOfMap(), ""]]);
    const isAlone = room.isWide && this.maps.length === 1; // a single map has its title and sentence beside it
    this.root.classList.toggle("alone", isAlone);
    const rest = isAlone ? height - BELOW : height - TEXTS_HEIGHT - this.told.offsetHeight - this.differ.offsetHeight;
    this.largeMap.draw({ ...this.marksOf({ matrix }), matrix, palette, width: room.large, height: rest });
    this.root.classList.toggle("difference", isDifference);
    this.root.classList.toggle("changes", matrix.kind === "change");
    setOnce(this.large, "style", room.isWide && !isAlone ? `width: ${room.large}px` : "");
    setOnce(this.frame, "aria-label", `${this.title.textContent}. ${text.heads.read}`);
    readCells(this.largeMap.canvas, {
      rows: matrix.rows, columns: matrix.columns, at: () => this.cell,
      tell: (row, column) => this.tellCell(matrix, row, column),
      act: () => this.askAs(matrix),
    });
    this.frame.onkeydown = this.largeMap.canvas.onkeydown;
    this.tellLegend(matrix);
  }

  // Returns whether the selected head's maps in two runs are shown side by side instead of one large map.
  get isBeside() {
    return Boolean(this.flow.data.sides) && !this.other && !this.mean.length;
  }

  // Returns the index of the selected head among the heads of the run on the screen.
  get chosen() {
    return this.own.findIndex(({ key }) => String(key) === this.now);
  }

  drawBeside() {
    const { flow, room, height, chosen, isUnlike } = this;
    const { sides, reads, text, palette } = flow.data;
    const isMoved = flow.waiting.has(flow.share) || flow.model.step(flow.share) !== flow.data.steps[flow.share];
    this.root.classList.remove("alone", "difference");
    this.root.classList.toggle("changes", reads.side === "difference");
    setOnce(this.large, "style", room.isWide ? `width: ${room.large}px` : "");
    const [[name]] = this.own[chosen].caption;
    write(this.title, [[name, ""]]);
    write(this.told, [[sides.difference?.told[chosen] ?? "", ""]]);
    this.title.hidden = this.told.hidden = isUnlike;
    const [a, b] = [sides.a, sides.b].map(({ largest }) => spellPercent(largest ?? 1));
    if (isUnlike) write(this.legend, [[text.heads.choose_unlike, ""], [said(text.heads.scales, { a, b }), "points"]]);
    else this.tellLegend(readMap(sides.difference, chosen, flow.share));
    this.beside.root.classList.toggle("waits", isMoved);
    const nameOfA = flow.data.heads_of_a[this.headOfA].name;
    this.beside.draw({
      parts: {
        a: this.sideOf("a", this.headOfA, this.rowInA(), isUnlike ? nameOfA : ""),
        b: this.sideOf("b", chosen, flow.look.query, isUnlike ? name : ""),
        difference: isUnlike ? null : this.sideOf("difference", chosen, flow.look.query),
      },
      missing: flow.data.no_difference ?? "", palette, label: text.heads.read,
      width: room.large, isWide: room.isWide,
      height: height - TEXTS_HEIGHT - this.told.offsetHeight - this.differ.offsetHeight,
    });
  }

  // Returns the map of a head in A, in B, or their difference, with its title, and with the row of the query.
  sideOf(side, head, row, name = "") {
    const { sides, reads } = this.flow.data;
    const title = [reads.text[side], name].filter(Boolean).join(" · ");
    return { title, matrix: readMap(sides[side], head, this.flow.share), row };
  }

  // Shows the numbers of a cell in A and in B, and their difference; without a difference, the number in one map.
  tellSides(row, column, side) {
    const { sides, reads, text } = this.flow.data;
    const told = this.isUnlike ? [side] : SIDES;
    const numbers = told.map((each) => {
      const matrix = readMap(sides[each], each === "a" ? this.headOfA : this.chosen, this.flow.share);
      return `${reads.text[each]} ${this.spell(matrix.row(row)[column], matrix)}`;
    });
    const { rows, columns } = sides[this.isUnlike ? side : "difference"];
    const names = { query: rows[row], key: columns[column], number: numbers.join(" · ") };
    write(this.legend, [[said(text.heads.cell, names), ""]]);
  }

  largeMatrix() {
    if (this.mean.length) return readMap(this.flow.data.read, this.maps.length, this.flow.share);
    const matrixOf = (key) => this.maps.find((each) => String(each.key) === key)?.matrix;
    const [one, other] = [matrixOf(this.other ? this.pair[0] : this.now), this.other && matrixOf(this.other)];
    return other ? differenceOf(one, other) : one;
  }

  nameOf(key) {
    const { reads } = this.flow.data;
    const [[name]] = this.maps.find((each) => String(each.key) === key).caption;
    return [[reads?.side ? `${name}: ${reads.text[reads.side]}` : name, ""]];
  }

  titleOfMap() {
    if (this.mean.length) return this.titleOfMean();
    return this.other ? this.titleOfDifference() : this.nameOf(this.now);
  }

  titleOfMean() {
    const { mean_title: title } = this.flow.data.reads.text;
    const heads = this.mean.map((i) => this.maps[i].short).join(", ");
    return [[said(title, { count: this.mean.length, heads }), ""]];
  }

  titleOfDifference() {
    const { text } = this.flow.data;
    const [one, other] = this.pair.map((key) => this.maps.find((each) => String(each.key) === key).short);
    return fill(text.heads.minus, { one: [`A ${one}`, "A"], other: [`B ${other}`, "B"] });
  }

  // Returns the sentence about the query's row in the selected head; "" until the server has opened this head.
  sentenceOfHead() {
    return this.asked ? "" : this.flow.sentences.fact()?.text ?? "";
  }

  // Returns the sentences about the options of the large map or, if no option is chosen, about the query's row.
  sentenceOfMap() {
    const { read } = this.flow.data;
    const map = this.mean.length ? this.maps.length : this.maps.findIndex(({ key }) => String(key) === this.now);
    return (read && (read.told[map] || read.said)) || this.sentenceOfHead();
  }

  // Returns the sentence about the query's row in two heads: it names the key whose weights differ most.
  rowOfDifference() {
    const { data, look, asking } = this.flow;
    if (data.random) return [[data.text.heads.random_difference, ""]];
    const [one, other] = this.pair.map((key) => this.maps.find((each) => String(each.key) === key).matrix);
    if (data.read?.said) return [[data.read.said, ""]];
    if (!one.step || !other.step || one.kind !== "share") return [["", ""]];
    const [a, b] = [one.row(look.query), other.row(look.query)];
    const differences = Array.from(a, (share, i) => finite(Math.abs(share - b[i]))); // null if the key is blocked
    const best = differences.indexOf(Math.max(...differences));
    const query = [asking, "asking"];
    if (!(differences[best] >= SAME)) return fill(data.text.heads.same_row, { query });
    const shares = { one: [spellWholePercent(a[best]), "A"], other: [spellWholePercent(b[best]), "B"] };
    return fill(data.text.heads.row, { query, key: [data.words.S[best], "key"], ...shares });
  }

  tellCell(matrix, row, column) {
    this.cell = [row, column];
    const { data } = this.flow;
    const number = matrix.row(row)[column];
    if (!matrix.step) return;
    const { T, S } = this.wordsOf("");
    const names = { query: T[row], key: S[column], number: this.spell(number, matrix) };
    write(this.legend, [[said(data.text.heads.cell, names), ""]]);
  }

  /** @type {(number: number, matrix: Pick<Matrix, "kind" | "isTimes">) => string} */
  spell(number, { kind, isTimes }) {
    if (kind === "times" || isTimes)
      return said(this.flow.data.reads.text.even_shares, { number: number.toFixed(2).replace("-", "−") });
    return kind === "signed" ? spellNumber(number) : spellPercent(number);
  }

  // Selects, as the query, the word of the row whose cell was shown last.
  askAs(matrix) {
    if (matrix.step && !(this.isUnlike && this.flow.data.reads.side === "a"))
      this.flow.lookAt({ query: this.cell[0] });
  }

  tellLegend(matrix) {
    const { text, random, reads } = this.flow.data;
    if (matrix.kind === "change") {
      const points = matrix.isTimes ? "" : text.heads.points;
      write(this.legend, [["", "more minus"], [reads.text.more_a, ""], ["", "more plus"], [reads.text.more_b, ""],
        [points, "points"], this.sayScale(matrix)]);
    } else if (matrix.kind === "times")
      write(this.legend, [["", "more less"], [reads.text.less, ""], ["", "more A"], [reads.text.more, ""]]);
    else if (this.mean.length) write(this.legend, [[reads.text.mean_choose, ""]]);
    else if (matrix.kind !== "difference") {
      const hint = this.maps.length > 1 ? hintOf(text.heads, "choose") : "";
      write(this.legend, [[hint, ""]]);
    } else if (random) write(this.legend, [["", ""]]);
    else write(this.legend, [["", "more A"], [text.heads.more_one, ""], ["", "more B"], [text.heads.more_other, ""],
      [text.heads.points, "points"], this.sayScale(matrix)]);
  }

  // Returns the text that says which number has the full colour in a difference; "" for maps sent as colours.
  sayScale({ step, isTimes, largest }) {
    const most = isTimes ? largest.toFixed(1) : Math.round(100 * largest);
    return [step ? said(this.flow.data.text.heads.scale, { most }) : "", "points"];
  }
}

/**
 * The difference of two maps, in which a blocked or hidden cell is one that both maps block or hide.
 * @param {Matrix} one
 * @param {Matrix} other
 * @returns {Matrix}
 */
export function differenceOf(one, other) {
  const { rows, columns } = one;
  const isExact = one.step && other.step; // false for maps that were sent as colours
  const [scale, otherScale] = isExact ? [1, 1] : [1 / one.largest, 1 / other.largest];
  const value = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const [a, b] = [one.row(row), other.row(row)];
    for (let column = 0; column < columns; column++)
      value[row * columns + column] = finite(a[column]) * scale - finite(b[column]) * otherScale;
  }
  return {
    rows, columns, kind: "difference", largest: fullColour(value, one.kind === "times"), value, first: 0,
    isTimes: one.kind === "times",
    step: isExact ? one.step : undefined,
    row: (row) => value.subarray(row * columns, (row + 1) * columns),
    isBlocked: (row, column) => one.isBlocked(row, column) && other.isBlocked(row, column),
    isHidden: (row, column) => Boolean(one.isHidden?.(row, column) && other.isHidden?.(row, column)),
  };
}

// Returns whether the parts of a tile's name fit beside each other; what a head does is shown whole or not at all,
// and the tooltip has it.
function fitsTile(parts, width) {
  const wide = ([text, kind]) => (text ? textWidth(text, NAME_SIZE, kind === "habit" ? 400 : 700) + NAME_GAP : 0);
  return parts.reduce((sum, part) => sum + wide(part), -NAME_GAP) <= width;
}
