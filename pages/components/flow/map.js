// The same picture seen from above: every query a row, its shares side by side. Even rows are pale and carry no numbers.
const EVEN_GAP = 1e-6; // between the largest and the smallest share of an even row
const MAP_LAYERS = ["cells", "texts", "hits"];

class MapView {
  constructor(svg) {
    this.shapes = new Shapes(svg, MAP_LAYERS);
  }

  // Where a cell stands. frame: { width, height, unit }.
  place({ width, height, unit }, queries, keys) {
    const [left, top] = [Math.min(150 * unit, width * 0.24), 46 * unit];
    const side = Math.min((width - left - 8) / keys, (height - top - 8) / queries, 64 * unit);
    const wide = Math.min((width - left - 8) / keys, side * 2.2);
    return { left, top, wide, tall: side };
  }

  // view: { frame, weights, queries, keys, look, hovered, blocked, opened, percent }. opened: from 0, the flow, to 1.
  draw(view) {
    this.shapes.begin();
    if (view.opened > 0) this.drawRows(view);
    this.shapes.end();
  }

  drawRows(view) {
    const place = this.place(view.frame, view.queries.length, view.keys.length);
    const size = Math.min(20 * view.frame.unit, place.tall * 0.5);
    view.keys.forEach((word, key) => {
      const at = { x: place.left + (key + 0.5) * place.wide, y: place.top - 16 * view.frame.unit, "font-size": size };
      if (size >= 8) this.shapes.put("texts", "text", `key ${key}`, { ...at, class: "middle mapword", text: shortened(word, place.wide, size), opacity: view.opened });
    });
    view.queries.forEach((word, query) => this.drawRow(view, place, size, word, query));
  }

  drawRow(view, place, size, word, query) {
    const { keys, weights, look, opened, frame } = view;
    const shares = weights.subarray(query * keys.length, (query + 1) * keys.length);
    const isLooked = query === look.query;
    const isEven = Math.max(...shares) - Math.min(...shares.filter((share) => share > 0)) < EVEN_GAP;
    const y = place.top + query * place.tall;
    const at = { x: place.left - 12 * frame.unit, y: y + place.tall / 2, "font-size": Math.max(size, isLooked ? 14 : 0) };
    const shows = size >= 8 || isLooked;
    if (shows) this.shapes.put("texts", "text", `query ${query}`, { ...at, class: `end mapword${isLooked ? " asking" : ""}`, text: word, opacity: opened * (isEven && !isLooked ? 0.55 : 1) });
    shares.forEach((share, key) => this.drawCell(view, place, query, key, share, isEven));
    const box = { x: 0, y, width: place.left + keys.length * place.wide, height: place.tall };
    this.shapes.put("hits", "rect", `query ${query}`, { ...box, class: `hit maprow${isLooked ? " looked" : ""}`, opacity: opened }, { query });
  }

  drawCell({ blocked, opened, percent, frame, keys }, place, query, key, share, isEven) {
    const gap = place.tall > 12 ? 1.5 : 0.3;
    const box = { x: place.left + key * place.wide + gap, y: place.top + query * place.tall + gap, width: place.wide - 2 * gap, height: place.tall - 2 * gap };
    const rx = Math.min(4 * frame.unit, box.height / 5);
    if (blocked[query * keys.length + key]) {
      this.shapes.put("cells", "rect", `${query} ${key}`, { ...box, rx, class: "shut", opacity: opened, "fill-opacity": 1 });
      return;
    }
    const strength = isEven ? 0.1 : 0.06 + 0.94 * share;
    this.shapes.put("cells", "rect", `${query} ${key}`, { ...box, rx, class: "share", opacity: opened, "fill-opacity": strength });
    if (isEven || share < TELLING_SHARE || box.height < 20) return;
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 + 1, "font-size": Math.min(19 * frame.unit, box.height * 0.5) };
    this.shapes.put("texts", "text", `${query} ${key}`, { ...at, class: `middle mapnumber${share > 0.45 ? " inside" : ""}`, text: percent(share), opacity: opened });
  }
}

// A word that fits over its column.
function shortened(word, width, size) {
  if (textWidth(word, size) <= width - 4) return word;
  let text = word;
  while (text.length > 1 && textWidth(`${text}…`, size) > width - 4) text = text.slice(0, -1);
  return `${text}…`;
}
