// The picture: a pure function of a view. A view says which numbers, how far the journey has come, which word is pointed
// at. Playing, dragging back, and a changed setting are therefore the same act.
// view: { snapshot, layout, progress, hovered, largest, words, lane, heads, percent }. progress: stops that are behind,
// and how far the next has come: 2.5 is the middle of the third.
const LAYERS = ["lane", "threads", "ribbons", "cells", "shares", "marks", "texts", "hits"];
const MANY_ROWS = 12; // above, resting threads are fainter
const TELLING_SHARE = 0.045; // shares from here on are written into their ribbon

class Picture {
  constructor(svg) {
    this.shapes = new Shapes(svg, LAYERS);
    this.clip = clipOf(svg);
    this.shapes.layers.get("ribbons").setAttribute("clip-path", `url(#${this.clip.id})`);
  }

  draw(view) {
    Object.assign(this, view);
    const { snapshot, layout } = view;
    this.unit = layout.unit;
    this.rows = snapshot.shares.length;
    this.byName = new Map(snapshot.parts.map((part) => [part.name, part]));
    this.stage = stagesOf(snapshot.stops, view.progress);
    const current = Math.min(snapshot.stops.length, Math.floor(view.progress));
    this.stop = snapshot.stops[current] ?? null;
    this.shapes.begin();
    this.drawLane();
    this.drawWords();
    for (const part of layout.parts) this.drawPart(part);
    this.drawShares();
    this.drawRibbons();
    this.drawAnswer();
    if (view.glow) this.drawGlow(view.glow);
    this.shapes.end();
  }

  // ---- where things are ---------------------------------------------------------------------------------------------
  has(name) {
    return name in this.layout.x;
  }

  // The last row stands for all words that are not drawn: it has a share, and no vectors.
  isRest(row) {
    return this.hasRest && row === this.rows - 1;
  }

  // How far a part has come: 0 is not yet, 1 is there.
  come(part) {
    return this.stage.parts.get(part.name) ?? 1;
  }

  isActive(part) {
    return Boolean(this.stop?.parts.includes(part.name)) && this.come(part) < 1;
  }

  // Where a part's numbers for a row stand.
  y(part, row) {
    return part.role === "lane" ? this.layout.laneY : this.layout.rowY[row];
  }

  // How strongly a row is drawn: where a word is pointed at, the others step back.
  nearness(row) {
    return this.hovered === null || this.hovered === row ? 1 : 0.1;
  }

  // How far a row is, where rows come one after the other: key by key.
  turn(share, row) {
    return clamp(clamp((share - 0.12) / 0.88) * (this.rows + 1) - row);
  }

  // ---- words and lane -----------------------------------------------------------------------------------------------
  drawLane() {
    const { laneY, laneHeight, frame } = this.layout;
    const box = { x: 0, y: laneY - laneHeight / 2 + 3 * this.unit, width: frame.width, height: laneHeight - 6 * this.unit };
    this.shapes.put("lane", "rect", "lane", { ...box, rx: 12 * this.unit, class: "lane" });
    if (!frame.crossed) this.drawPill(box);
    const size = Math.min(24, 20 * this.unit);
    const at = { x: 10 * this.unit, y: laneY, "font-size": frame.crossed ? size : 15 * this.unit };
    this.shapes.put("texts", "text", "asks", { ...at, class: frame.crossed ? "word asking" : "aside", text: this.lane });
  }

  // The word that asks, and its lane, as one shape.
  drawPill(lane) {
    const { rowY, rowHeight, laneBehind, frame } = this.layout;
    const top = rowY[laneBehind] - Math.max(rowHeight[laneBehind], 30 * this.unit) / 2 + 2 * this.unit;
    const box = { x: 0, y: top, width: frame.wordWidth, height: Math.max(0, lane.y + lane.height - top) };
    this.shapes.put("lane", "rect", "pill", { ...box, rx: 12 * this.unit, class: "pill" });
  }

  drawWords() {
    const { rowY, rowHeight, laneBehind, frame } = this.layout;
    for (let row = 0; row < this.rows; row++) {
      const asks = !frame.crossed && row === laneBehind;
      const isHovered = this.hovered === row;
      const usual = Math.min(24 * this.unit, rowHeight[row] * 0.76);
      const size = asks || isHovered ? Math.max(usual, 20) : usual;
      const look = ["word", asks && "asking", isHovered && "hovered", this.isRandom(row) && "random"].filter(Boolean).join(" ");
      const fades = this.hovered === null || isHovered || asks ? 1 : 0.28;
      const at = { x: 10 * this.unit, y: rowY[row], "font-size": size, opacity: fades };
      if (size >= 9) this.shapes.put("texts", "text", `word ${row}`, { ...at, class: look, text: this.words[row] });
      const box = { x: 0, y: rowY[row] - rowHeight[row] / 2, width: frame.wordWidth, height: rowHeight[row] };
      this.shapes.put("hits", "rect", `word ${row}`, { ...box, class: "hit", title: this.titleOf(row) }, { word: row });
    }
  }

  // ---- a part -------------------------------------------------------------------------------------------------------
  drawPart(part) {
    const share = this.come(part);
    if (share <= 0) return;
    if (part.role !== "lane") this.drawHead(part, share);
    if (!part.mixes) this.drawThreads(part, share);
    if (part.is_share) return; // sticks and ribbons, below
    if (part.role === "pair") this.drawBars(part, share);
    else this.drawVectors(part, share);
    if (this.isActive(part) && part.role.startsWith("pair")) this.drawMeeting(part, share);
  }

  // The query glides down the keys; where it lies on one, what comes of both drops into its place.
  drawMeeting(part, share) {
    const read = part.reads.map((name) => this.byName.get(name));
    const query = read.find((other) => other?.role === "lane");
    const keys = read.find((other) => other?.role === "row");
    if (!query || !keys || !this.has(query.name) || !this.has(keys.name)) return;
    const { x, w, rowY, rowHeight, laneY, zoom } = this.layout;
    const count = clamp((share - 0.12) / 0.88) * (this.rows + 1); // keys that were met
    const along = clamp(count - 0.5, 0, this.rows - 1);
    const row = Math.floor(along);
    const onKey = between(rowY[row], rowY[Math.min(row + 1, this.rows - 1)], easeInOut(along - row));
    const y = between(laneY, onKey, easeInOut(clamp(share / 0.13)));
    const { cell } = stripOf(this.snapshot, keys, this.unit, zoom);
    const height = Math.min(Math.max(cell, 9 * this.unit) * 1.3, rowHeight[row] * 0.46);
    const above = height + 3 * this.unit;
    const lens = { x: x[keys.name] - 6 * this.unit, y: y - height / 2 - above - 5 * this.unit, width: w[keys.name] + 12 * this.unit };
    this.shapes.put("marks", "rect", "lens", { ...lens, height: height + above + 10 * this.unit, rx: 8 * this.unit, class: "lens" });
    this.drawGlide(query, x[keys.name], y - above, w[keys.name], height);
    if (count <= 0 || count >= this.rows) return;
    const drop = clamp((count - 0.25) % 1);
    const start = x[keys.name] + w[keys.name] + 6 * this.unit;
    const end = x[part.name] + (part.role === "pair" ? w[part.name] / 2 : 0);
    const dot = { cx: between(start, end, easeOut(drop)), cy: rowY[Math.min(this.rows - 1, Math.floor(count))], r: 5 * this.unit };
    this.shapes.put("marks", "circle", "drop", { ...dot, class: "drop", opacity: 1 - 0.4 * drop });
  }

  // The query's cells over a key's, number over number.
  drawGlide(query, x, y, width, height) {
    const numbers = this.snapshot.numbers[query.name];
    const { gap, each, count } = stripOf(this.snapshot, query, this.unit, 1);
    const step = (width + gap) / count;
    for (let i = 0; i < count; i++) {
      const number = numbers[largestOf(numbers, i * each, Math.min(numbers.length, (i + 1) * each))];
      const strength = clamp(Math.abs(number) / (this.largest[query.name] || 1));
      const box = { x: x + i * step, y: y - height / 2, width: Math.max(0.5, step - gap), height, rx: Math.min(3 * this.unit, height / 4) };
      const look = `cell q ${number < 0 ? "minus" : "plus"}`;
      this.shapes.put("marks", "rect", `glide ${i}`, { ...box, class: look, "fill-opacity": 0.14 + 0.78 * strength });
    }
  }

  // Over a column: its sign and its name.
  drawHead(part, share) {
    const { x, w, headHeight, folded, frame } = this.layout;
    const isFolded = folded.has(part.name);
    const middle = x[part.name] + w[part.name] / 2;
    const comes = clamp(share * 4) * (part.is_share ? clamp((this.stage.motions.share ?? 1) * 4 - 2.4) : 1);
    const lit = this.isActive(part) ? " lit" : "";
    const sign = { x: middle, y: headHeight - 31 * this.unit, "font-size": (isFolded ? 15 : 19) * this.unit };
    const opens = { head: part.name };
    this.shapes.put("texts", "text", `sign ${part.name}`, { ...sign, opacity: comes, class: `sign ${part.family}${lit}`, text: part.sign }, opens);
    if (isFolded || frame.compact) return;
    const name = { x: middle, y: headHeight - 12 * this.unit, "font-size": 13.5 * this.unit };
    this.shapes.put("texts", "text", `name ${part.name}`, { ...name, opacity: comes, class: `name${lit}`, text: part.label }, opens);
  }

  // ---- vectors: strips of cells, their frame the symbol's colour, their fill sign and size ----------------------------
  drawVectors(part, share) {
    const count = part.role === "lane" ? 1 : this.rows;
    for (let row = 0; row < count; row++) {
      const own = part.role === "lane" ? share : part.role === "pairs" ? this.turn(share, row) : clamp(share * 1.4 - (0.4 * row) / count);
      if (own <= 0) continue;
      const way = this.wayInto(part, row, easeInOut(own));
      const nearness = part.role === "lane" ? 1 : this.nearness(row);
      this.drawStrip(part, row, way, clamp(own * 3) * nearness);
    }
    if (part.role === "lane") this.drawLaneName(part, share);
  }

  // A vector slides from what it is made of to its place.
  wayInto(part, row, share) {
    const { x } = this.layout;
    const source = part.reads.find((name) => this.has(name));
    const to = { x: x[part.name], y: this.y(part, row) };
    if (!source || share >= 1) return to;
    const from = this.byName.get(source);
    const sourceRow = from.role === "lane" ? 0 : part.role === "lane" ? this.layout.laneBehind : row;
    return { x: between(x[source], to.x, share), y: between(this.y(from, sourceRow), to.y, share) };
  }

  drawStrip(part, row, { x, y }, opacity, layer = "cells") {
    const { zoom, rowHeight } = this.layout;
    const numbers = this.snapshot.numbers[part.name];
    if (part.role !== "lane" && this.isRest(row)) return;
    const { cell, gap, each, count } = stripOf(this.snapshot, part, this.unit, zoom);
    const length = numbers.length / (part.role === "lane" ? 1 : this.rows);
    const room = part.role === "lane" ? Infinity : rowHeight[row];
    const height = Math.max(1, room > 20 ? Math.min(Math.max(cell, 9 * this.unit) * 1.3, room * 0.46) : room - 1.5);
    for (let i = 0; i < count; i++) {
      const m = largestOf(numbers, row * length + i * each, row * length + Math.min(length, (i + 1) * each));
      const number = numbers[m];
      const strength = clamp(Math.abs(number) / (this.largest[part.name] || 1));
      const column = m - row * length;
      const isOther = part.merges && Math.floor(column / (length / this.heads)) !== this.snapshot.look.head;
      const look = ["cell", part.family, number < 0 ? "minus" : "plus", isOther && "other", height < 9 && "slim"];
      const box = { x: x + i * (cell + gap), y: y - height / 2, width: Math.max(0.5, cell), height, rx: Math.min(3 * this.unit, cell / 4, height / 4) };
      const fill = Number.isFinite(number) ? (strength < 0.02 ? 0.03 : 0.14 + 0.78 * strength) : 0;
      const means = { part: part.name, row, m: column };
      this.shapes.put(layer, "rect", `${part.name} ${row} ${i}`, { ...box, class: look.filter(Boolean).join(" "), opacity, "fill-opacity": Math.round(100 * fill) / 100 }, means);
    }
  }

  drawLaneName(part, share) {
    const { x, w, laneY, frame } = this.layout;
    if (frame.compact) return;
    const at = { x: x[part.name] + w[part.name] / 2, y: laneY + 26 * this.unit, "font-size": 15 * this.unit };
    this.shapes.put("texts", "text", `lane ${part.name}`, { ...at, class: `name ${part.family}`, text: part.sign, opacity: clamp(share * 3 - 2) });
  }

  // ---- threads: who reads whom ----------------------------------------------------------------------------------------
  drawThreads(part, share) {
    for (const name of part.reads) {
      const from = this.byName.get(name);
      if (!from || !this.has(name)) continue;
      if (part.role === "lane") this.drawLaneThread(from, part, share);
      else for (let row = 0; row < this.rows; row++) if (!this.isRest(row)) this.drawRowThread(from, part, row, share);
    }
  }

  drawLaneThread(from, part, share) {
    const { x, w, laneY, laneBehind } = this.layout;
    const start = x[from.name] + w[from.name];
    const end = x[part.name];
    const path = from.role === "lane" ? line(start, laneY, end) : curve(start, this.y(from, laneBehind), end, laneY);
    const color = from.role === "lane" ? from.family : part.family;
    this.putThread(`${from.name} ${part.name}`, path, `${color}${from.role === "lane" ? "" : " strong"}`, 0.9, easeInOut(share));
  }

  drawRowThread(from, part, row, share) {
    const { x, w, laneY, rowY, rowHeight } = this.layout;
    const middle = (name) => x[name] + w[name] / 2;
    const isBar = (other) => other.role === "pair" && !other.is_share;
    const key = `${from.name} ${part.name} ${row}`;
    const nearness = this.nearness(row);
    const start = isBar(from) ? middle(from.name) : x[from.name] + w[from.name];
    if (from.role === "lane") {
      const resting = this.rows > MANY_ROWS && !this.isActive(part) ? 0.35 : 0.62;
      const drawn = this.turn(share, row);
      const end = x[part.name] - 7 * this.unit;
      this.putThread(key, curve(start, laneY, end, rowY[row]), from.family, resting * nearness, drawn);
      const dot = { cx: end, cy: rowY[row], r: Math.min(4.5 * this.unit, Math.max(1, rowHeight[row] / 3)) };
      this.shapes.put("marks", "circle", `meets ${key}`, { ...dot, class: "meets", opacity: nearness * clamp(drawn * 4 - 3) });
      return;
    }
    if (part.role === "row" && part.column - from.column > 1) {
      if (rowHeight[row] > LEGIBLE_ROW * 0.6) this.drawFarThread(key, from, part, row, share);
      return;
    }
    const meets = part.reads.some((name) => this.byName.get(name)?.role === "lane");
    const end = !isBar(part) ? x[part.name] : meets ? x[part.name] - 7 * this.unit : middle(part.name);
    const faded = this.snapshot.blocked[row] && (part.is_share || part.motion === "mask") ? 0.12 : 0.55;
    const color = part.role === "pair" ? (from.role === "pair" ? (part.is_share ? "share" : "x") : from.family) : part.family;
    this.putThread(key, line(start, rowY[row], end), color, faded * nearness, meets ? this.turn(share, row) : easeInOut(share));
  }

  // From x to v, past all that lies between: dotted, under the row.
  drawFarThread(key, from, part, row, share) {
    const { x, w, rowY, rowHeight } = this.layout;
    const [start, end, y] = [x[from.name] + w[from.name], x[part.name], rowY[row]];
    const low = y + rowHeight[row] * 0.36;
    const path = `M${start},${y}L${start + 6 * this.unit},${low}H${end - 6 * this.unit}L${end},${y}`;
    const strength = this.isActive(part) || this.hovered === row ? 0.9 : 0.3;
    this.shapes.put("threads", "path", key, { d: path, class: `thread far ${part.family}`, opacity: share * strength * this.nearness(row) });
  }

  putThread(key, d, look, opacity, drawn) {
    if (opacity <= 0.01 || drawn <= 0) return;
    const dashes = drawn < 1 ? `${drawn.toFixed(3)} 1` : "none";
    this.shapes.put("threads", "path", key, { d, class: `thread ${look}`, opacity, pathLength: 1, "stroke-dasharray": dashes });
  }

  // ---- bars: a number for each key ------------------------------------------------------------------------------------
  drawBars(part, share) {
    const { x, w } = this.layout;
    const middle = x[part.name] + w[part.name] / 2;
    const axis = { d: `M${middle},${this.layout.headHeight}V${this.layout.frame.height - 8 * this.unit}`, class: "axis" };
    this.shapes.put("lane", "path", `axis ${part.name}`, { ...axis, opacity: clamp(share * 3) * 0.8 });
    for (let row = 0; row < this.rows; row++) this.drawBar(part, row, share);
  }

  drawBar(part, row, share) {
    const { x, w, rowY, rowHeight } = this.layout;
    if (this.isRest(row)) return;
    const numbers = this.snapshot.numbers[part.name];
    const before = part.reads.find((name) => this.byName.get(name)?.role === "pair");
    const grows = !before; // out of a product; else the bar comes from the column before
    const own = grows ? this.turn(share, row) : clamp(share * 1.25 - (0.25 * row) / this.rows);
    if (own <= 0) return;
    const isBlocked = part.motion === "mask" && numbers[row] === -Infinity;
    const target = Number.isFinite(numbers[row]) ? numbers[row] : 0;
    const source = before ? finite(this.snapshot.numbers[before][row]) : 0;
    const number = grows ? target * settle(own) : between(source, isBlocked ? source : target, easeInOut(own));
    const end = x[part.name] + w[part.name] / 2;
    const start = before && this.has(before) ? x[before] + w[before] / 2 : end;
    const middle = grows ? end : between(start, end, easeInOut(own));
    const length = (Math.abs(number) / (this.largest[part.name] || 1)) * (w[part.name] / 2);
    const height = Math.max(1, Math.min(15 * this.unit, rowHeight[row] - 2));
    const look = `bar ${number < 0 ? "minus" : "plus"}`;
    const box = { x: number < 0 ? middle - length : middle, y: rowY[row] - height / 2, width: Math.max(0.01, length), height, rx: Math.min(3 * this.unit, height / 3) };
    const means = { part: part.name, row, m: 0 };
    const nearness = this.nearness(row);
    this.shapes.put("cells", "rect", `${part.name} ${row}`, { ...box, class: look, opacity: nearness * (isBlocked ? 1 - own : 1) }, means);
    if (isBlocked) this.drawBlocked(part, row, clamp(own * 2 - 1) * nearness);
    else if (length < 1.5) this.drawZero(part, row, middle, nearness, height);
    const whole = { x: x[part.name], y: rowY[row] - Math.max(height, 8) / 2, width: w[part.name], height: Math.max(height, 8) };
    this.shapes.put("hits", "rect", `${part.name} ${row}`, { ...whole, class: "hit" }, means);
    const tells = this.hovered === row || (this.hovered === null && this.isActive(part) && own > 0.6 && rowHeight[row] > 16);
    if (!tells || isBlocked || this.layout.folded.has(part.name)) return;
    const at = { x: (number < 0 ? middle : middle + length) + 6 * this.unit, y: rowY[row], "font-size": 15 * this.unit };
    this.shapes.put("texts", "text", `number ${part.name} ${row}`, { ...at, class: "number", text: this.fixed(this.isActive(part) ? number : target) });
  }

  drawZero(part, row, x, opacity, height) {
    const dot = { cx: x, cy: this.layout.rowY[row], r: Math.min(2.6 * this.unit, height / 2) };
    this.shapes.put("cells", "circle", `zero ${part.name} ${row}`, { ...dot, class: "zero", opacity });
  }

  drawBlocked(part, row, opacity) {
    const { x, w, rowY, rowHeight } = this.layout;
    const height = Math.max(1, Math.min(18 * this.unit, rowHeight[row] - 2));
    const box = { x: x[part.name] + w[part.name] * 0.2, y: rowY[row] - height / 2, width: w[part.name] * 0.6, height };
    this.shapes.put("cells", "rect", `blocked ${part.name} ${row}`, { ...box, rx: 3 * this.unit, class: "blocked", opacity });
  }

  // ---- shares: powers, then one stick of length 1, then a segment a key -----------------------------------------------
  drawShares() {
    const { share, shares, numbers } = this.snapshot;
    if (!this.has(share.name) || this.come(share) <= 0) return;
    const source = share.reads.find((name) => this.has(name) && this.byName.get(name).role === "pair");
    const scores = source ? numbers[source] : shares;
    const powers = powersOf(scores, shares);
    const power = this.stage.motions.power ?? 1;
    const settled = this.stage.motions.share ?? 1;
    const [lying, standing] = [easeInOut(clamp(settled / 0.5)), easeInOut(clamp((settled - 0.66) / 0.34))];
    let sum = 0;
    for (let row = 0; row < this.rows; row++) {
      const comes = easeInOut(clamp(power * 1.25 - (0.25 * row) / this.rows));
      const asPower = this.powerBox(row, comes, source, scores, powers);
      const box = blendTables(blendTables(asPower, this.stickBox(row, sum), lying), this.shareBox(row), standing);
      sum += shares[row];
      const attributes = { x: box.x, y: box.y, width: Math.max(0.6, box.width), height: Math.max(0.6, box.height) };
      const rx = Math.min(3 * this.unit, box.height / 3, box.width / 3);
      const means = { part: share.name, row, m: 0 };
      this.shapes.put("shares", "rect", `share ${row}`, { ...attributes, rx, class: "share", opacity: this.nearness(row) }, means);
      if (lying > 0.6 && standing < 0.5 && box.width > 46 * this.unit) this.drawSegmentWord(row, box, clamp((lying - 0.6) * 4) * (1 - 2 * standing));
    }
    if (settled > 0 && standing < 1) this.drawRuler(clamp(settled * 5) * (1 - standing));
  }

  // The room for the bars of the powers, and for the stick.
  shareRoom() {
    const { x, frame } = this.layout;
    return Math.max(40, Math.min(frame.width - x[this.snapshot.share.name] - 66 * this.unit, 470 * this.unit));
  }

  powerBox(row, comes, source, scores, powers) {
    const { x, w, rowY, rowHeight } = this.layout;
    const height = Math.max(1, Math.min(17 * this.unit, rowHeight[row] - 2));
    const end = x[this.snapshot.share.name];
    const half = source ? w[source] / 2 : 0;
    const score = finite(scores[row]);
    const length = source ? (Math.abs(score) / (this.largest[source] || 1)) * half : 0;
    const middle = source ? x[source] + half : end;
    return {
      x: between(score < 0 ? middle - length : middle, end, comes),
      y: rowY[row] - height / 2,
      width: between(length, powers[row] * this.shareRoom(), comes),
      height,
    };
  }

  stickBox(row, sum) {
    const [room, height] = [this.shareRoom(), 30 * this.unit];
    const x = this.layout.x[this.snapshot.share.name] + sum * room;
    return { x, y: this.layout.laneY - height / 2, width: this.snapshot.shares[row] * room, height };
  }

  shareBox(row) {
    const { x, w } = this.layout;
    const height = Math.max(0.8, this.snapshot.shares[row] * this.layout.stick);
    return { x: x[this.snapshot.share.name], y: this.topOf(row, height), width: w[this.snapshot.share.name], height };
  }

  // Where a ribbon of this width begins: at its row, but inside the picture.
  topOf(row, height) {
    const { rowY, headHeight, frame } = this.layout;
    return clamp(rowY[row] - height / 2, headHeight, frame.height - height - 1);
  }

  drawSegmentWord(row, box, opacity) {
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 + 1, "font-size": 17 * this.unit, opacity };
    this.shapes.put("texts", "text", `segment ${row}`, { ...at, class: "segment", text: this.words[row] });
  }

  drawRuler(opacity) {
    const start = this.layout.x[this.snapshot.share.name];
    const [end, y, tick] = [start + this.shareRoom(), this.layout.laneY + 21 * this.unit, 5 * this.unit];
    const d = `M${start},${y - tick}V${y + tick}M${start},${y}H${end}M${end},${y - tick}V${y + tick}`;
    this.shapes.put("marks", "path", "ruler", { d, class: "ruler", opacity });
    [[start, "0"], [end, "1"]].forEach(([x, text]) => {
      const at = { x, y: y + 13 * this.unit, "font-size": 14 * this.unit, opacity };
      this.shapes.put("texts", "text", `ruler ${text}`, { ...at, class: "aside middle", text });
    });
  }

  // ---- ribbons: values on their way, each as wide as its share --------------------------------------------------------
  drawRibbons() {
    const { share, shares, parts } = this.snapshot;
    const mixer = parts.find((part) => part.mixes);
    if (!this.has(mixer.name) || this.come(mixer) <= 0) return;
    const values = this.byName.get(mixer.reads.find((name) => this.byName.get(name).role === "row"));
    const { x, w, laneY, stick, headHeight } = this.layout;
    const start = x[share.name] + w[share.name];
    const end = x[mixer.name] - 16 * this.unit;
    const passed = this.has(values.name) ? x[values.name] + w[values.name] : start;
    const bend = passed + Math.min(64 * this.unit, (end - passed) * 0.34);
    const revealed = easeInOut(clamp(this.come(mixer) / 0.75));
    this.clip.set(start, headHeight - 60 * this.unit, Math.max(0, (end + 10 * this.unit - start) * revealed), this.layout.frame.height);
    const total = shares.reduce((one, other) => one + other, 0);
    let arrives = laneY - (stick * total) / 2;
    for (let row = 0; row < this.rows; row++) {
      const width = shares[row] * stick;
      const leaves = this.topOf(row, width);
      this.drawRibbon(row, { start, bend, end, leaves, arrives, width });
      if (revealed > 0.04 && revealed < 1 && shares[row] > 0.03) this.drawFlyingValue(values, row, { passed, bend, end, arrives, width }, revealed);
      this.drawPercent(row, passed, leaves, width, clamp(revealed * 3 - 1));
      arrives += width;
    }
    const box = { x: end, y: laneY - (stick * total) / 2, width: 5 * this.unit, height: stick * total, rx: 2 };
    this.shapes.put("ribbons", "rect", "stick", { ...box, class: "stick", opacity: clamp(this.come(mixer) * 3 - 1.6) });
  }

  drawRibbon(row, { start, bend, end, leaves, arrives, width }) {
    const hair = Math.max(0.9, width);
    const half = (bend + end) / 2;
    const there = `H${bend}C${half},${leaves} ${half},${arrives} ${end},${arrives}`;
    const back = `V${arrives + hair}C${half},${arrives + hair} ${half},${leaves + hair} ${bend},${leaves + hair}H${start}Z`;
    const strength = between(0.34, 0.92, clamp(this.snapshot.shares[row] * 3));
    this.shapes.put("ribbons", "path", `ribbon ${row}`, { d: `M${start},${leaves}${there}${back}`, class: "ribbon", opacity: strength * this.nearness(row) }, { ribbon: row });
  }

  drawFlyingValue(values, row, { passed, bend, end, arrives, width }, revealed) {
    const x = between(passed, end, revealed);
    const bent = clamp((x - bend) / (end - bend));
    const y = between(this.layout.rowY[row], arrives + width / 2, bent * bent * (3 - 2 * bent));
    this.drawStrip(values, row, { x: x - this.layout.w[values.name] * 0.7, y }, clamp((1 - revealed) * 4), "marks");
  }

  drawPercent(row, x, top, width, opacity) {
    const share = this.snapshot.shares[row];
    const tells = this.hovered === row || (this.hovered === null && share >= TELLING_SHARE);
    if (!tells || opacity <= 0) return;
    const isInside = width > 24 * this.unit;
    const at = { x: x + 12 * this.unit, y: isInside ? top + width / 2 + 1 : top - 10 * this.unit, "font-size": (isInside ? 24 : 16) * this.unit, opacity };
    this.shapes.put("texts", "text", `percent ${row}`, { ...at, class: `percent${isInside ? " inside" : ""}`, text: this.percent(share) });
  }

  // What a change changed, outlined for a moment.
  drawGlow({ rows, strength }) {
    const { x, w, rowY, rowHeight, laneY } = this.layout;
    for (const part of this.snapshot.parts) {
      if (!rows.has(part.name) || !this.has(part.name)) continue;
      const isLane = part.role === "lane";
      const height = isLane ? 36 * this.unit : Math.min(28 * this.unit, Math.max(...rowHeight));
      for (const row of isLane ? [0] : rows.get(part.name)) {
        const y = isLane ? laneY : rowY[row];
        if (!isLane && rowHeight[row] < 12) continue;
        const box = { x: x[part.name] - 4 * this.unit, y: y - height / 2, width: w[part.name] + 8 * this.unit, height, rx: 6 * this.unit };
        this.shapes.put("marks", "rect", `glow ${part.name} ${row}`, { ...box, class: "glow", opacity: easeOut(strength) });
      }
    }
  }

  // The word that asked, at the end of its lane.
  drawAnswer() {
    const last = this.layout.parts.filter((part) => part.role === "lane" && part.after).at(-1);
    if (!last) return;
    const { x, w, laneY, frame } = this.layout;
    const at = { x: x[last.name] + w[last.name] + 12 * this.unit, y: laneY, "font-size": Math.min(24 * this.unit, 30) };
    this.shapes.put("texts", "text", "answer", { ...at, class: "word asking", text: `${this.asking}′`, opacity: clamp(this.come(last) * 3 - 2) });
  }
}

// ---- small things ------------------------------------------------------------------------------------------------------

const line = (x, y, to) => `M${x},${y}H${to}`;

function curve(x0, y0, x1, y1) {
  const middle = (x0 + x1) / 2;
  return `M${x0},${y0}C${middle},${y0} ${middle},${y1} ${x1},${y1}`;
}

// The place of the number of the largest size.
function largestOf(numbers, first, end) {
  let found = first;
  for (let i = first + 1; i < end; i++) if (Math.abs(numbers[i]) > Math.abs(numbers[found])) found = i;
  return found;
}

// exp of each score as a part of the largest one's; of words without a score together what their share says.
function powersOf(scores, shares) {
  const top = scores.reduce((most, score) => Math.max(most, Number.isNaN(score) ? -Infinity : score), -Infinity);
  const most = Math.max(...shares) || 1;
  return Array.from(scores, (score, row) => (Number.isNaN(score) ? shares[row] / most : top === -Infinity ? 0 : Math.exp(score - top)));
}

// How far each part has come, and each motion.
function stagesOf(stops, progress) {
  const [parts, motions] = [new Map(), {}];
  stops.forEach((stop, i) => {
    const share = clamp(progress - i);
    motions[stop.motion] = share;
    stop.parts.forEach((name, place) => {
      const own = stop.motion === "power" ? Number(share > 0) : clamp(share * stop.parts.length - place);
      if (stop.motion !== "share" || !parts.has(name)) parts.set(name, own);
    });
  });
  return { parts, motions };
}

// What uncovers the ribbons from the left.
function clipOf(svg) {
  const clip = document.createElementNS(SVG, "clipPath");
  clip.id = `ribbons-${Math.random().toString(36).slice(2)}`;
  const rect = document.createElementNS(SVG, "rect");
  clip.append(rect);
  svg.append(clip);
  const set = (x, y, width, height) => Object.entries({ x, y, width, height }).forEach(([name, value]) => rect.setAttribute(name, value));
  return { id: clip.id, set };
}
