// Holds what was typed and sent, until the server has answered it: a slow server gets it again with the next message.

/** @typedef {{ serial: number, row: number, column: number, text: string, pasted?: boolean }} Entry */

export class Outbox {
  serial = 0; // the number of the last message
  /** @type {Entry[]} */
  waiting = []; // not answered yet, the oldest first

  /**
   * Returns the next message: all that waits, then the new texts. A newer text of a cell replaces an older one.
   * @param {Omit<Entry, "serial">[]} typed
   */
  send(typed) {
    this.serial += 1;
    const isReplaced = (old) => !old.pasted && typed.some((now) => now.row === old.row && now.column === old.column);
    this.waiting = this.waiting.filter((old) => !isReplaced(old));
    this.waiting.push(...typed.map((each) => ({ ...each, serial: this.serial })));
    return { serial: this.serial, cells: this.waiting.map(({ serial, ...cell }) => cell) };
  }

  /**
   * Drops what the server has answered.
   * @param {number} answered the number of the last message that the server has read
   */
  answer(answered) {
    this.serial = Math.max(this.serial, answered); // after a reload of this part, the server knows later numbers
    this.waiting = this.waiting.filter(({ serial }) => serial > answered);
  }

  /** Returns whether a text of a cell waits for the server's answer. */
  waits(row, column) {
    return this.waiting.some((each) => !each.pasted && each.row === row && each.column === column);
  }

  /** Drops everything, because other cells are shown. */
  clear() {
    this.waiting = [];
  }
}

/**
 * Returns the text to show in a cell when the server has sent a number for it: what the visitor typed since stays.
 * @param {string} shown the text in the cell
 * @param {string} known the text that the server has answered, or its former number
 * @param {string} number
 * @param {boolean} waits whether the text was sent and is not answered yet
 */
export const textToShow = (shown, known, number, waits) => (!waits && shown === known ? number : shown);
