// Draws the map view: one step of the run, such as the scores, as a matrix for the selected head.
// The operands of a matrix product are drawn at its left and above it.
// Rows with uniform attention weights are pale and have no numbers.
// The animation from the flow to the map depends only on `opened`, which increases from 0 (flow) to 1 (map).
// First, the numbers that the flow also shows move from their places in the flow to their cells in the map.
// After them, the other rows of the map appear, beginning with the rows next to the selected one.
import { isEvenRow } from "./map_cells.js";
import { between, blendTables, clamp, easeInOut, easeOut } from "./motion.js";
import { TELLING_SHARE } from "./picture/ribbons.js";
import { Shapes } from "./shapes.js";
import { legible, shortened, spellNumber, spellPercent, textWidth } from "./words.js";

const MAP_LAYERS = ["cells", "texts", "hits"];
const LEGIBLE_CELL = { width: 32, height: 16 }; // px: smaller cells show no number
const WIDEST_CELL = 2.2; // largest width of a cell, as a multiple of its height
const LANDED = 0.6; // value of `opened` at which numbers from the animation have reached their cells
// While the map opens, the nearest other row begins to appear at `opened` = RISES, the farthest one at LAST_RISES.
// A row takes an increase of `opened` by RISE to appear completely.
const [RISES, LAST_RISES, RISE] = [0.35, 0.7, 0.3];

export class MapView {
  constructor(svg) {
    this.shapes = new Shapes(svg, MAP_LAYERS);
    this.openY = 0;
    this.blocks = []; // the matrices drawn in this frame, with their positions
  }

  // Draws the map. view: { frame, result, left, above, look, opened, open, chosen, hovered, rings }.
  // result, left, above: the matrices of the step and of its two operands, from Model.matrix.
  // left and above are null if the step is no matrix product.
  // Each matrix has `starts`, the boxes in the flow picture from which its numbers move (Flights.leave).
  // opened: progress from the flow (0) to the map (1). open: { row, height } of the open arithmetic, or null.
  // chosen, hovered: { row, column } of the chosen and of the hovered cell of the result, or null.
  // rings: the operands of the open arithmetic that get a ring, [{ cell: { step, index }, isPointed }].
  draw(view) {
    this.shapes.begin();
    if (view.opened > 0) this.drawBlocks(view);
    this.shapes.end();
  }

  drawBlocks(view) {
    const { result, left, above, open } = view;
    const place = this.place(view);
    const { x, y, wide, tall } = place;
    const gap = (row) => (open && row > open.row ? open.height : 0);
    this.openY = open ? y + (open.row + 1) * tall : 0;
    const lit = view.hovered ?? view.chosen;
    const below = { wide, tall, y, gap };
    const looked = result.rowAxis === "T" ? view.look.query : 0;
    this.blocks = [
      { ...below, looked, key: "result", matrix: result, x, isLit: (row, column) => isPlace(view.chosen, row, column) },
    ];
    if (left)
      this.blocks.push({
        ...below, looked, key: "left", matrix: left, x: place.leftX,
        isLit: (row) => lit?.row === row,
      });
    if (above)
      this.blocks.push({
        wide, tall, looked: above.rows - 1, key: "above", matrix: above, x, y: place.aboveY,
        gap: () => 0,
        isLit: (row, column) => lit?.column === column,
      });
    const comes = clamp((view.opened - LANDED) / (1 - LANDED));
    this.drawNames(view, place, gap, comes);
    for (const block of this.blocks) this.drawBlock(view, block);
    view.rings.forEach((ring, i) => this.drawRing(ring, i, comes));
    if (!left) return;
    this.drawTitle(
      left,
      { x: place.leftX + (left.columns * wide) / 2, y: y - 11 * place.unit, size: 14 * place.unit, look: "middle" },
      comes,
    );
    this.drawTitle(
      above,
      { x: x - 12 * place.unit, y: place.aboveY + (above.rows * tall) / 2, size: 16 * place.unit, look: "end" },
      comes,
    );
  }

  // ---- places: { key, row, column } of a block ----------------------------------------------------------------------
  // Returns where a cell of a step is drawn: { key of its matrix, row, column }; null if it is not drawn.
  find({ step, index }) {
    for (const { key, matrix } of this.blocks) {
      const [one, other] = index.length > 1 ? index.slice(-2) : [0, index[0]];
      const [row, column] = matrix.isTransposed ? [other, one] : [one, other];
      if (matrix.step === step && String(matrix.placeOf(row, column)) === String(index)) return { key, row, column };
    }
    return null;
  }

  block(key) {
    return this.blocks.find((block) => block.key === key);
  }

  boxOf({ key, row, column }) {
    const { x, y, wide, tall, gap } = this.block(key);
    return { x: x + column * wide, y: y + row * tall + gap(row), width: wide, height: tall };
  }

  elementOf({ key, row, column }) {
    return this.shapes.made.get(`cells ${key} ${row} ${column}`).element;
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------
  // Returns the positions of the matrices, and the width and height of a cell, in px.
  place({ frame: { width, height, unit }, result, left, above, open }) {
    const size = 20 * unit;
    const longest = Math.max(...result.rowNames.map((name) => textWidth(name, size)));
    const namesWidth = Math.min(longest + 24 * unit, width * 0.3);
    const [names, between] = [44 * unit, left ? 22 * unit : 0];
    const [inner, innerRows] = [left ? left.columns : 0, above ? above.rows : 0];
    const room = {
      width: width - namesWidth - between - 8, height: height - names - between - (open ? open.height : 0) - 8,
    };
    const tall = Math.min(room.width / (result.columns + inner), room.height / (result.rows + innerRows), 64 * unit);
    const wide = Math.min(room.width / (result.columns + inner), tall * WIDEST_CELL);
    const aboveY = names;
    return {
      tall, wide, unit,
      leftX: namesWidth,
      x: namesWidth + inner * wide + between,
      aboveY,
      y: aboveY + innerRows * tall + between,
    };
  }

  drawNames({ result, left, look }, { x, y, wide, tall, unit, leftX, aboveY }, gap, opacity) {
    const size = Math.min(20 * unit, tall * 0.5, 24);
    const [columnSize, namesX] = [legible(Math.min(size, 17 * unit)), left ? leftX : x];
    result.columnNames.forEach((name, column) => {
      const text = shortened(name, wide, columnSize);
      if (size < 8 || (text === "…" && column % Math.ceil(18 / wide))) return;
      const at = { x: x + (column + 0.5) * wide, y: aboveY - 14 * unit, "font-size": columnSize };
      this.shapes.put("texts", "text", `column ${column}`, { ...at, class: "middle mapword", text, opacity });
    });
    result.rowNames.forEach((name, row) => {
      const isLooked = result.rowAxis === "T" && row === look.query;
      const top = y + row * tall + gap(row);
      if (result.rowAxis === "T")
        this.drawLookedRow(row, isLooked, { x: 0, y: top, width: x + result.columns * wide, height: tall }, opacity);
      if (size < 8 && !isLooked) return;
      const room = namesX - 14 * unit;
      const wanted = Math.max(legible(size), isLooked ? 14 : 0);
      const fitting = legible(Math.min(wanted, room / textWidth(name, 1, isLooked ? 700 : 400)));
      const text = shortened(name, room, fitting, isLooked ? 700 : 400);
      const at = { x: namesX - 12 * unit, y: top + tall / 2, "font-size": fitting };
      this.shapes.put("texts", "text", `row ${row}`, {
        ...at, class: `end mapword${isLooked ? " asking" : ""}`, text, opacity,
      });
    });
  }

  // Draws an operand's name, with a pen (✎) if the visitor can type into its cells. A click on the name opens its map.
  drawTitle({ title, family, step, isTyped }, { x, y, size, look }, opacity) {
    const at = { x, y, "font-size": size, opacity };
    this.shapes.put(
      "texts", "text", `title ${look}`,
      { ...at, class: `${look} sign ${family}`, text: isTyped ? `${title} ✎` : title },
      { head: step },
    );
  }

  // Draws the background of a query's row in the map; a click on the background selects this query.
  drawLookedRow(row, isLooked, box, opacity) {
    this.shapes.put(
      "cells", "rect", `whole ${row}`,
      { ...box, class: `maprow${isLooked ? " looked" : ""}`, opacity },
      { query: row },
    );
  }

  // Draws a ring around a cell that is an operand of the opened arithmetic.
  drawRing({ cell, isPointed }, i, opacity) {
    const place = this.find(cell);
    if (place)
      this.shapes.put("hits", "rect", `ring ${i}`, {
        ...this.boxOf(place), rx: 4, class: `ring${isPointed ? " pointed" : ""}`, opacity,
      });
  }

  drawBlock(view, block) {
    const { matrix } = block;
    const flying = new Set([...matrix.starts.keys()].map((key) => Number(key.split(" ")[0])));
    for (let row = 0; row < matrix.rows; row++) {
      if (!this.raise(view, block, row, flying.has(row))) continue;
      const numbers = matrix.row(row);
      const isEven = matrix.kind === "share" && isEvenRow(numbers);
      numbers.forEach((number, column) =>
        this.drawCell(view, block, { row, column, number, isEven, flies: flying.has(row) }),
      );
    }
  }

  // Moves a row out from under the neighbouring row while it appears; a row with numbers from the flow does not move.
  // Returns how far a row of the map has appeared, from 0 to 1.
  raise({ opened }, { key, tall, looked, matrix }, row, flies) {
    const far = Math.abs(row - looked) / Math.max(1, looked, matrix.rows - 1 - looked);
    const share = flies ? 1 : easeOut(clamp((opened - between(RISES, LAST_RISES, far)) / RISE));
    const down = Math.sign(looked - row) * tall * (1 - share);
    for (const layer of ["cells", "texts"]) this.shapes.moveGroup(layer, `${key} ${row}`, down, share);
    return share;
  }

  drawCell(
    { opened, frame, look: { query }, fades },
    { matrix, x, y, wide, tall, gap, key, isLit },
    { row, column, number, isEven, flies },
  ) {
    const edge = tall > 12 ? 1.5 : 0.3;
    const means = {
      cell: { step: matrix.step, index: matrix.placeOf(row, column) }, at: key === "result" ? { row, column } : null,
    };
    const box = {
      x: x + column * wide + edge, y: y + row * tall + gap(row) + edge, width: wide - 2 * edge, height: tall - 2 * edge,
    };
    const isBlocked = matrix.isBlocked(row, column);
    const isFaded = fades && key === "result" && matrix.rowAxis === "T" && row !== query;
    const strength = isBlocked ? 0 : isEven ? 0.1 : 0.05 + 0.95 * clamp(Math.abs(number) / (matrix.largest || 1));
    const look = isBlocked ? "shut" : matrix.kind === "share" ? "share" : number < 0 ? "mapcell minus" : "mapcell plus";
    const start = matrix.starts.get(`${row} ${column}`);
    const flight = start ? easeInOut(clamp(opened / LANDED)) : 1;
    const shown = start || !flies ? 1 : clamp((opened - LANDED) / (1 - LANDED)); // the row's other cells appear last
    const attributes = {
      ...(start ? blendTables(start, box, flight) : box), rx: Math.min(4 * frame.unit, tall / 5),
      class: `${look}${isLit(row, column) ? " chosen" : ""}`,
    };
    const opacity = (isFaded ? FADED : shown) * (matrix.waits ? WAITING : 1);
    const filled = isBlocked ? 1 : start ? between(start["fill-opacity"] ?? 1, strength, flight) : strength;
    this.shapes.put(
      "cells", "rect", `${key} ${row} ${column}`,
      { ...attributes, opacity, "fill-opacity": filled },
      means, `${key} ${row}`,
    );
    const isTold = !isEven && !isBlocked && box.width >= LEGIBLE_CELL.width && box.height >= LEGIBLE_CELL.height;
    if (!isTold || (matrix.kind === "share" && number < TELLING_SHARE)) return;
    const at = {
      x: box.x + box.width / 2, y: box.y + box.height / 2 + 1,
      "font-size": Math.min(19 * frame.unit, box.height * 0.5, box.width * 0.3),
    };
    const text = matrix.kind === "share" ? spellPercent(number) : spellNumber(number);
    // In a row whose cells come from the flow, numbers appear only after the cells have reached their places.
    const told = flies ? Math.min(opacity, clamp((opened - LANDED) / (1 - LANDED))) : opacity;
    this.shapes.put(
      "texts", "text", `${key} ${row} ${column}`,
      { ...at, class: `middle mapnumber${strength > 0.5 ? " inside" : ""}`, text, opacity: told },
      null, `${key} ${row}`,
    );
  }
}

export const WAITING = 0.35; // opacity of numbers that only the server computes, after a drag
const FADED = 0.45; // opacity of rows of queries that are not selected, in presentation mode
const isPlace = (place, row, column) => place !== null && place.row === row && place.column === column;
