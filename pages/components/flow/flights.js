// Animates the change between the flow picture and the map of a matrix.
// A number that both views draw moves from its place in one view to its place in the other.
import { shapeOfNumber } from "./picture/rings.js";

export class Flights {
  constructor(flow) {
    this.flow = flow;
    this.found = new Map(); // selection and matrix of the map, as JSON -> the map's cells that the flow picture draws
  }

  // Returns a Map from "row column" of each cell that both views draw to the attributes of its shape in the flow.
  // The function hides these shapes in the current frame, so the flow picture must be drawn before.
  leave(matrix) {
    const { picture } = this.flow;
    const shapes = new Map();
    for (const { row, column, part, place } of this.cellsOf(matrix)) {
      const shape = picture.has(part.name) && shapeOfNumber(picture, part, place.row, place.m);
      if (shape) shapes.set(`${row} ${column}`, shape);
    }
    const starts = new Map([...shapes].map(([key, { attributes }]) => [key, { ...attributes }]));
    for (const shape of shapes.values()) picture.shapes.set(shape, "opacity", 0);
    return starts;
  }

  // Returns the cells of a matrix that the flow picture draws, too.
  // If the matrix has a row for each query, only cells of the selected query's row are returned.
  cellsOf(matrix) {
    const { data, look, snapshot } = this.flow;
    const key = JSON.stringify([
      data.digest, look.batch, look.head, look.query, matrix.step, Boolean(matrix.isTransposed),
    ]);
    if (this.found.has(key)) return this.found.get(key);
    if (this.found.size > 8) this.found.clear();
    const part = snapshot.parts.find(({ name }) => name === matrix.step);
    const cells = part ? this.find(matrix, part) : [];
    this.found.set(key, cells);
    return cells;
  }

  find(matrix, part) {
    const { model, look } = this.flow;
    const asks = (axis) => axis === "T" && part.role !== "row";
    const cells = [];
    for (let row = 0; row < matrix.rows; row++) {
      if (asks(matrix.rowAxis) && row !== look.query) continue;
      for (let column = 0; column < matrix.columns; column++) {
        if (asks(matrix.columnAxis) && column !== look.query) continue;
        const place = model.findNumber({ step: matrix.step, index: matrix.placeOf(row, column) }, look);
        if (place) cells.push({ row, column, part, place });
      }
    }
    return cells;
  }
}
