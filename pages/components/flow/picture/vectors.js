// Vectors: strips of cells, their frame the symbol's colour, their fill sign and size.
const SLIM = 9; // px: cells that are less high have no frame
const NARROW = 4; // px: of cells that are less wide the whole strip has one frame
const LANE_NAME_PX = 15;
const FAINT = 0.02; // of the largest number: what is smaller has next to no fill

function drawVectors(picture, part, share) {
  const count = part.role === "lane" ? 1 : picture.rows;
  for (let row = 0; row < count; row++) {
    const own = part.role === "lane" ? share : part.role === "pairs" ? picture.turn(share, row) : clamp(share * 1.4 - (0.4 * row) / count);
    if (own <= 0) continue;
    const nearness = part.role === "lane" ? 1 : picture.nearness(row);
    if (part.merges && own < 1) drawMerge(picture, part, own);
    else drawVector(picture, part, row, wayInto(picture, part, row, easeInOut(own)), clamp(own * 3) * nearness);
  }
  if (part.role === "lane") drawLaneName(picture, part, share);
}

// A vector slides from what it is made of to its place.
function wayInto(picture, part, row, share) {
  const { x } = picture.layout;
  const source = part.reads.find((name) => picture.has(name));
  const to = { x: x[part.name], y: picture.y(part, row) };
  if (!source || share >= 1) return to;
  const from = picture.byName.get(source);
  const sourceRow = from.role === "lane" ? 0 : part.role === "lane" ? picture.layout.laneBehind : row;
  return { x: between(x[source], to.x, share), y: between(picture.y(from, sourceRow), to.y, share) };
}

// fly: from a cell's place to where it is on its way, (box, column) -> { box, and how strongly it is drawn }.
function drawVector(picture, part, row, { x, y }, opacity, { layer = "cells", fly = null } = {}) {
  const { zoom } = picture.layout;
  const numbers = picture.snapshot.numbers[part.name];
  if (part.role !== "lane" && picture.isRest(row)) return;
  const { cell, gap, each, count } = stripOf(picture.snapshot, part, picture.unit, zoom);
  const length = numbers.length / (part.role === "lane" ? 1 : picture.rows);
  const height = cellHeight(picture, part, row, cell);
  const isFramed = height >= SLIM && cell < NARROW && !fly;
  if (isFramed) {
    const frame = { x, y: y - height / 2, width: count * (cell + gap) - gap, height, rx: 2 * picture.unit };
    picture.shapes.put(layer, "rect", `frame ${part.name} ${row}`, { ...frame, class: `frame ${part.family}`, opacity });
  }
  for (let i = 0; i < count; i++) {
    const m = largestOf(numbers, row * length + i * each, row * length + Math.min(length, (i + 1) * each));
    const number = numbers[m];
    const strength = clamp(Math.abs(number) / (picture.largest[part.name] || 1));
    const isSlim = height < SLIM && !fly;
    if (isSlim && strength < FAINT) continue; // without a frame it would not be seen
    const column = m - row * length;
    const isOther = part.merges && Math.floor(column / (length / picture.heads)) !== picture.snapshot.look.head;
    const look = ["cell", part.family, number < 0 ? "minus" : "plus", isOther && !fly && "other", (isFramed || isSlim) && "slim"];
    const box = { x: x + i * (cell + gap), y: y - height / 2, width: Math.max(0.5, cell), height };
    const rx = Math.min(3 * picture.unit, cell / 4, height / 4);
    const { box: flown, ...strengths } = fly ? fly(box, column) : { box, opacity };
    const fill = Number.isFinite(number) ? (strength < FAINT ? 0.03 : 0.14 + 0.78 * strength) : 0;
    const means = { part: part.name, row, m: column };
    picture.shapes.put(layer, "rect", `${part.name} ${row} ${i}`, { ...flown, rx, ...strengths, class: look.filter(Boolean).join(" "), "fill-opacity": Math.round(100 * fill) / 100 }, means);
  }
}

function cellHeight(picture, part, row, cell) {
  const room = part.role === "lane" ? Infinity : picture.layout.rowHeight[row];
  return Math.max(1, room > 20 ? Math.min(Math.max(cell, 9 * picture.unit) * 1.3, room * 0.46) : room - 1.5);
}

function drawLaneName(picture, part, share) {
  const { x, w, laneY, frame } = picture.layout;
  if (frame.compact) return;
  const size = LANE_NAME_PX * picture.unit;
  const at = { x: x[part.name] + w[part.name] / 2, y: laneY + 26 * picture.unit, "font-size": size };
  const text = hasRoomFor(picture, part, size) ? part.label : part.sign;
  picture.shapes.put("texts", "text", `lane ${part.name}`, { ...at, class: `name ${part.family}`, text, opacity: clamp(share * 3 - 2) }, { head: part.opens });
}

// Whether the name fits between the strips beside it.
function hasRoomFor(picture, part, size) {
  const { x, w, parts } = picture.layout;
  const middle = ({ name }) => x[name] + w[name] / 2;
  const others = parts.filter((other) => other.role === "lane" && other !== part);
  const room = Math.min(...others.map((other) => Math.abs(middle(other) - middle(part))));
  return textWidth(part.label, size, 700) + 6 * picture.unit <= room;
}
