// Draws the maps of a head in two runs, A and B, side by side, and B minus A.
import { added, setOnce, write } from "../dom.js";
import { readCells } from "../model/maps.js";
import { HeadMap } from "./head_map.js";
import { GAP } from "./heads_layout.js";
import { heightBelow } from "./page_room.js";

export const SIDES = ["a", "b", "difference"];
const BELOW = 36; // px: height of the line below the maps with a cell's numbers, and of the space around this line
const LEAST_DIFFERENCE = 140; // px: least height of the map of the difference on a phone, where it is below A and B
const TITLE_HEIGHT = 24; // px: height of the titles "A", "B" and "B − A" above the maps

/** @typedef {{ title: string, matrix: any, row: number }} Part row: the row to frame; -1 for none */

export class BesideMaps {
  /**
   * @param {HTMLElement} root
   * @param {object} hands
   * @param {(row: number, column: number, side: string) => void} hands.tell what happens when a cell is read
   * @param {(row: number, side: string) => void} hands.act what a click on a cell or Enter does
   */
  constructor(root, { tell, act }) {
    this.root = root;
    this.tell = tell;
    this.act = act;
    this.cell = [0, 0]; // the cell whose numbers were shown last, in any of the maps
    /** @type {string | null} */
    this.opened = null; // the run whose map fills the width of a phone after a tap; null for none
    this.maps = SIDES.map((side) => {
      const figure = added(root, "div", `side ${side}`);
      const title = added(figure, "p", "sidetitle");
      const frame = added(figure, "div", "reader", { tabIndex: 0, role: "application" });
      return { side, figure, title, frame, map: new HeadMap(added(frame, "div")) };
    });
    this.missing = added(root, "p", "missing"); // the text that says why there is no difference
  }

  /**
   * @param {object} view
   * @param {Record<string, Part | null>} view.parts the maps of a head in A, in B, and their difference, which is null
   *   if the two maps have other shapes
   * @param {string} view.missing why there is no difference; "" if there is one
   * @param {Record<string, string>} view.palette
   * @param {string} view.label how to move from cell to cell with the keyboard
   * @param {number} view.width the room for all maps
   * @param {number} view.height
   * @param {boolean} view.isWide whether the three stand in one line; else, as on a phone, the difference stands below
   *   A and B, and a tap on a map gives it the whole width
   */
  draw(view) {
    this.view = view;
    const { parts, missing, palette, label, width, height, isWide } = view;
    this.root.classList.toggle("two", !parts.difference);
    write(this.missing, [[missing, ""]]);
    this.missing.hidden = !missing;
    for (const { side, figure, title, frame, map } of this.maps) {
      const part = parts[side];
      title.hidden = frame.hidden = !part;
      if (!part) continue;
      write(title, [[part.title, ""]]);
      const { matrix, row } = part;
      const { rows, columns } = matrix;
      const isOpened = !isWide && this.opened === side;
      figure.classList.toggle("opened", isOpened);
      const isBelow = !isWide && side === "difference";
      const inLine = isOpened || isBelow ? 1 : isWide && parts.difference ? 3 : 2;
      const room = height - TITLE_HEIGHT - this.missing.offsetHeight;
      const rest = Math.max(LEAST_DIFFERENCE, heightBelow(title) - BELOW); // A and B are drawn already
      setOnce(frame, "aria-label", `${part.title}. ${label}`);
      map.draw({
        matrix, palette,
        width: Math.floor((width - (inLine - 1) * GAP) / inLine),
        height: isBelow && !isOpened ? Math.min(room, rest) : room,
        row: row < 0 ? null : { start: row / rows, size: 1 / rows },
        words: { rows: matrix.rowNames, columns: matrix.columnNames },
      });
      const tell = (at, column) => this.read(at, column, side);
      const act = () => isWide || this.opened === side ? this.act(this.cell[0], side) : this.open(side);
      title.onclick = () => isWide ? null : this.open(isOpened ? null : side);
      readCells(map.canvas, { rows, columns, at: () => this.cell, tell, act });
      frame.onkeydown = map.canvas.onkeydown;
    }
  }

  /** Opens a map in the whole width of a phone. @param {string | null} side null to close the opened one */
  open(side) {
    this.opened = side;
    if (this.view) this.draw(this.view);
  }

  read(row, column, side) {
    this.cell = [row, column];
    this.tell(row, column, side);
  }
}
