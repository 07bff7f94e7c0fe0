// What one query sees of a run in one head: the numbers of every part of the picture, row by row.
// data: parts and stops as the core gives them (attention_core/drawing/flow.py), steps by name, words of the axes.
class Model {
  constructor(data) {
    this.data = data;
    this.parts = new Map(data.parts.map((part) => [part.name, part]));
    this.keys = data.words.S;
    this.heads = data.heads;
  }

  step(name) {
    return this.data.steps[name];
  }

  // Where a cell of a part stands in its step: the row is a key's, m counts along a vector.
  indexOf(part, look, row, m) {
    const { dims, shape } = this.step(part.name);
    return dims.map((dim, axis) => {
      const position = this.position(dim, part, look, row, m, axis === dims.length - 1, shape[axis]);
      return Math.min(position, shape[axis] - 1);
    });
  }

  position(dim, part, look, row, m, isLast, size) {
    if (dim === "B") return look.batch;
    if (dim === "H") return look.head;
    if (dim === "H_kv") return keyHead(look.head, this.heads, size);
    if (dim === "S") return row;
    if (dim === "T") return part.role === "row" ? row : look.query;
    return isLast ? m : 0;
  }

  // How many rows and numbers in a row a part has.
  rows(part) {
    return part.role === "lane" ? 1 : this.keys.length;
  }

  width(part) {
    return part.role === "pair" ? 1 : this.step(part.name).shape.at(-1);
  }

  // The part's numbers, row by row. steps: of the twin, while a hand drags; else the run's own.
  numbers(part, look, steps = this.data.steps) {
    const [rows, width] = [this.rows(part), this.width(part)];
    const { shape, value } = steps[part.name];
    const found = new Float64Array(rows * width);
    for (let row = 0; row < rows; row++) {
      const first = placeOf(shape, this.indexOf(part, look, row, 0));
      if (part.role === "pair") found[row] = value[first];
      else for (let m = 0; m < width; m++) found[row * width + m] = value[first + m];
    }
    return found;
  }

  // All that is drawn of a look: { look, parts, stops, numbers, shares, blocked }. What changes nothing in this row is left out.
  snapshot(look, steps) {
    const numbers = {};
    for (const part of this.parts.values()) numbers[part.name] = this.numbers(part, look, steps);
    const idle = new Map();
    for (const part of this.parts.values()) {
      const [source] = part.reads;
      const changes = part.role !== "pair" || part.is_share || this.parts.get(source)?.role !== "pair" ||
        numbers[part.name].some((number, row) => number !== numbers[source][row]);
      if (!changes) idle.set(part.name, source);
    }
    const shown = (name) => (idle.has(name) ? shown(idle.get(name)) : name);
    const parts = [];
    for (const part of this.parts.values()) {
      if (idle.has(part.name) || this.feedsOnly(part, idle)) continue;
      parts.push({ ...part, reads: [...new Set(part.reads.map(shown))] });
    }
    const names = new Set(parts.map((part) => part.name));
    const stops = [];
    for (const stop of this.data.stops) {
      const kept = stop.parts.filter((name) => names.has(name));
      if (kept.length) stops.push({ ...stop, parts: kept });
    }
    const share = parts.find((part) => part.is_share);
    const shares = numbers[share.name];
    const before = numbers[share.reads[0]] ?? shares;
    const blocked = Array.from(shares, (_, row) => before[row] === -Infinity);
    return { look, parts, stops, numbers, shares, share, blocked };
  }

  // Whether nothing reads a part but parts that change nothing: a bias of zeros.
  feedsOnly(part, idle) {
    const readers = [...this.parts.values()].filter((other) => other.reads.includes(part.name));
    return part.role === "pair" && readers.length > 0 && !part.reads.length && readers.every((other) => idle.has(other.name));
  }
}
