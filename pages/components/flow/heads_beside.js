// Draws the maps of a head in two runs, A and B, side by side, and B minus A.
import { added, setOnce, write } from "../dom.js";
import { readCells } from "../model/maps.js";
import { HeadMap } from "./head_map.js";
import { GAP } from "./heads_layout.js";
import { readMap } from "./model.js";

export const SIDES = ["a", "b", "difference"];
const TITLE_HEIGHT = 24; // px: height of the titles "A", "B" and "B − A" above the maps

export class BesideMaps {
  /**
   * @param {HTMLElement} root
   * @param {object} hands
   * @param {(row: number, column: number) => void} hands.tell what happens when a cell is read, in whichever map
   * @param {() => void} hands.act what a click on a cell or Enter does
   */
  constructor(root, { tell, act }) {
    this.root = root;
    this.tell = tell;
    this.act = act;
    this.cell = [0, 0]; // the cell whose numbers were shown last
    this.maps = SIDES.map((side) => {
      const figure = added(root, "div", `side ${side}`);
      const title = added(figure, "p", "sidetitle");
      const frame = added(figure, "div", "reader", { tabIndex: 0, role: "application" });
      return { side, title, frame, map: new HeadMap(added(frame, "div")) };
    });
  }

  /**
   * @param {object} view
   * @param {Record<string, any>} view.sides the maps of all heads of A, of B, and their difference
   * @param {number} view.head the index of the head
   * @param {string} view.step the name of the step with the weights
   * @param {number} view.query
   * @param {Record<string, string>} view.palette
   * @param {Record<string, string>} view.titles
   * @param {string} view.label how the cells are read with the keyboard
   * @param {number} view.width the room for all three
   * @param {number} view.height
   * @param {boolean} view.isWide whether the three stand in one line; else the difference stands below A and B
   */
  draw({ sides, head, step, query, palette, titles, label, width, height, isWide }) {
    for (const { side, title, frame, map } of this.maps) {
      const matrix = readMap(sides[side], head, step);
      const { rows, columns } = matrix;
      const inLine = isWide ? 3 : side === "difference" ? 1 : 2;
      write(title, [[titles[side], ""]]);
      setOnce(frame, "aria-label", `${titles[side]}. ${label}`);
      map.draw({
        matrix, palette,
        width: Math.floor((width - (inLine - 1) * GAP) / inLine),
        height: height - TITLE_HEIGHT,
        row: { start: query / rows, size: 1 / rows },
        words: { rows: sides[side].rows, columns: sides[side].columns },
      });
      const tell = (row, column) => this.read(row, column);
      readCells(map.canvas, { rows, columns, at: () => this.cell, tell, act: this.act });
      frame.onkeydown = map.canvas.onkeydown;
    }
  }

  read(row, column) {
    this.cell = [row, column];
    this.tell(row, column);
  }
}
