// Animates the concatenation of the heads into one row.
// The numbers of the selected head start at the strip of cells that the picture draws.
// The numbers of any other head start at its small map above, or at the picture's top edge without a visible map.
import { STRIP, stripOf } from "../layout.js";
import { between, blendTables, clamp, easeInOut } from "../motion.js";
import { cellHeight, drawVector } from "./strips.js";
import { legible } from "../words.js";

/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("./picture.js").Drawn} Drawn */

const FOLLOWS = 0.3; // delay from the start of the first head to that of the last one, as a share of the animation
const [GROWN, SHRINKS] = [0.3, 0.6]; // numbers are enlarged between these shares of a flight, for viewers far away
const OTHER_FRAME = 0.35; // opacity of the frames of other heads' cells after the flight

/**
 * @param {Drawn} picture
 * @param {Part} part
 * @param {number} share how much of the part is drawn, from 0 to 1
 */
export function drawMerge(picture, part, share) {
  const at = { x: picture.layout.x[part.name], y: picture.y(part, 0) };
  const flights = Array.from({ length: picture.heads }, (_, head) => flightOf(picture, part, share, head));
  flights.forEach((flight) => drawCarrier(picture, flight));
  const length = picture.snapshot.numbers[part.name].length / picture.heads;
  const fly = (box, column) => flyAlong(flights[Math.floor(column / length)], box);
  drawVector(picture, part, 0, at, 1, { layer: "flying", fly });
}

// Returns how far the numbers of one head have moved into the row of all heads.
// The result is an object { head, isLooked, own, box, target, map, frame }.
// isLooked: whether the head is selected. own: the finished share of this head's flight.
// map, box, target: the boxes where the numbers start, are now, and land.
// frame: the opacity of the frames of the head's cells.
function flightOf(picture, part, share, head) {
  const own = ownShare(picture, share, head);
  const isLooked = head === picture.snapshot.look.head;
  const target = boxOfHead(picture, part, head, picture.heads);
  const map = mapOfHead(picture, head);
  const box = isLooked
    ? blendTables(sourceBox(picture, part), target, easeInOut(own))
    : boxOnWay(picture, map, target, own);
  return { head, isLooked, own, box, target, map, frame: isLooked ? 1 : between(1, OTHER_FRAME, landing(own)) };
}

const landing = (own) => easeInOut(clamp((own - SHRINKS) / (1 - SHRINKS)));

// Returns the finished share of a head's flight. The selected head starts first, the others follow one by one.
function ownShare(picture, share, head) {
  const { head: looked } = picture.snapshot.look;
  const turn = head === looked ? 0 : head < looked ? head + 1 : head;
  const late = (FOLLOWS * turn) / Math.max(1, picture.heads - 1);
  return clamp((share - late) / (1 - FOLLOWS));
}

// Returns the box of a head's moving numbers, which start at the query's row of the head's small map.
// On its way, the box of numbers is enlarged; at the end, it shrinks to its final size.
function boxOnWay(picture, map, target, own) {
  const height = 22 * picture.unit;
  const flying = {
    height, width: clamp((target.width / target.height) * height, height, STRIP.longest * picture.unit),
  };
  const size =
    own < SHRINKS ? blendTables(map, flying, easeInOut(clamp(own / GROWN))) : blendTables(flying, target, landing(own));
  const way = easeInOut(own);
  const [x, y] = [
    between(map.x + map.width / 2, target.x + target.width / 2, way),
    between(map.y + map.height / 2, target.y + target.height / 2, way),
  ];
  return { x: x - size.width / 2, y: y - size.height / 2, width: size.width, height: size.height };
}

// Returns the box and the opacities of one cell of a flying head.
function flyAlong({ isLooked, own, box, target, frame }, cell) {
  const [wide, tall] = [box.width / target.width, box.height / target.height];
  const flown = {
    x: box.x + (cell.x - target.x) * wide, y: box.y + (cell.y - target.y) * tall, width: cell.width * wide,
    height: cell.height * tall,
  };
  return { box: flown, opacity: clamp(own * (isLooked ? 3 : 8)), "stroke-opacity": frame };
}

// ---- starts and targets ---------------------------------------------------------------------------------------------
// Returns the box of one head's cells in a strip of several heads.
function boxOfHead(picture, part, head, heads) {
  const { cell, gap, count } = stripOf(picture.snapshot, part, picture.layout);
  const height = cellHeight(picture, part, 0, cell);
  const each = (count * (cell + gap)) / heads;
  return {
    x: picture.layout.x[part.name] + head * each, y: picture.y(part, 0) - height / 2, width: each - gap, height,
  };
}

function sourceBox(picture, part) {
  const source = picture.byName.get(part.reads.find((name) => picture.has(name)));
  return boxOfHead(picture, source, 0, 1);
}

// Returns the box of the query's row in a head's small map: { x, y, width, height, isSeen }.
// If small maps are not shown, each head starts at a separate place on the top edge of the picture.
function mapOfHead(picture, head) {
  const { width } = picture.layout.frame;
  const map = picture.headMaps?.[head];
  if (!map)
    return { x: (width * (head + 0.5)) / picture.heads, y: 0, width: 40 * picture.unit, height: 0, isSeen: false };
  const height = map.height / picture.queries;
  return { ...map, y: map.y + picture.snapshot.look.query * height, height };
}

// ---- frames of flying numbers ---------------------------------------------------------------------------------------
// Draws a box around a head's flying numbers, with the head's name if the head's small map is not visible.
function drawCarrier(picture, { head, isLooked, own, box, map }) {
  if (isLooked || own <= 0 || own >= 1) return;
  const opacity = clamp(own * 8) * clamp((1 - own) * 4);
  const edge = 5 * picture.unit;
  const round = { x: box.x - edge, y: box.y - edge, width: box.width + 2 * edge, height: box.height + 2 * edge };
  picture.put("carriers", "rect", `carrier ${head}`, {
    ...round, rx: 7 * picture.unit, class: "carrier", opacity,
  });
  if (map.isSeen) return;
  const at = {
    x: box.x + box.width / 2, y: Math.max(box.y, 30 * picture.unit) - 14 * picture.unit,
    "font-size": legible(15 * picture.unit),
  };
  picture.put("carriers", "text", `arriving ${head}`, {
    ...at, opacity, class: "name v carried", text: picture.headNames[head],
  });
}
