// Shows the arithmetic of one cell (the "sum") in a gap that opens below the cell's row.
// A click on an operand opens that operand's arithmetic.
// On a phone, the arithmetic covers the lower edge of the screen: first the result, then a line for each term.
import { button, element, focused } from "../dom.js";
import { fixed, printed, twoDigits } from "../rounded.js";
import { sourcesOf } from "../sources.js";
import { isSamePlace } from "./exchange.js";

export class SumPanel {
  // open: opens the arithmetic of a cell, { step, index }. close: closes the arithmetic.
  // point: a function that is called whenever `pointed` changes.
  constructor(root, { open, close, point }) {
    this.root = root;
    this.open = open;
    this.close = close;
    this.point = point;
    this.operands = []; // the operands in the shown arithmetic, each as { step, index }
    this.pointed = null; // the operand under the pointer
    this.places = new WeakMap(); // button -> { step, index } of its cell
    root.hidden = true;
  }

  // Shows the arithmetic of a cell.
  // If the arithmetic is unchanged, its elements are kept, because the visitor may be pressing one of them.
  show(data) {
    if (this.shown === JSON.stringify(data)) return;
    this.shown = JSON.stringify(data);
    const hadFocus = this.root.contains(focused(this.root));
    this.titled = data.title;
    /** @type {HTMLElement} */
    this.title = element("strong", "", data.title);
    this.note = element("span", "note");
    const trail = data.trail.flatMap((place) => [this.button(place, "back"), " › "]);
    const fold = button("fold", { textContent: "×", title: data.fold, ariaLabel: data.fold }, () => this.close());
    this.pieces = data.pieces.map((piece) => ({
      ...piece,
      element: element("span", "", piece.text),
    }));
    const sum = element("div", "sum", this.pieces.length ? this.lines() : [data.given]);
    this.result = element("span", "result", resultOf(this.pieces.at(-1)?.text ?? data.title));
    const where = element("div", "where", [...trail, this.title, ...sourcesOf(data), this.note]);
    this.root.replaceChildren(element("div", "told", [this.result, where]), sum, fold);
    this.operands = data.pieces.filter((piece) => piece.step !== undefined);
    this.pointed = null;
    if (hadFocus) (sum.querySelector("button") ?? fold).focus();
  }

  // Updates operands and result during a drag; a text that only the server can write becomes pale.
  // The argument is the object that sumView returns.
  follow({ cell, numberAt, isMark, waits }) {
    if (this.root.hidden || !this.pieces?.length) return;
    const spelled = this.pieces.map((piece, i) =>
      this.spellAt(i, i === this.pieces.length - 1 ? cell : piece, numberAt, isMark),
    );
    const isOther = (i) => spelled[i] !== this.pieces[i].text;
    const isMoved = this.pieces.some((_, i) => isOther(i));
    const isUnknown =
      // Returns whether only the server can write the new arithmetic.
      numberAt(cell) === null || this.pieces.some((piece, i) => isOther(i) && piece.step && isMark(piece));
    this.pieces.forEach(({ text, step, element }, i) => {
      const isFixed = i < this.pieces.length - 1 && (step === undefined || numberAt(this.pieces[i]) === null);
      setText(element, isUnknown ? text : spelled[i]);
      element.classList.toggle("waits", isUnknown || (isMoved && isFixed && /\d/.test(text)));
    });
    setText(
      this.title,
      isMoved && !isUnknown ? this.titled.replace(/ = [^=]*$/, ` = ${spellLong(numberAt(cell))}`) : this.titled,
    );
    this.title.classList.toggle("waits", isUnknown);
    setText(this.result, resultOf(this.pieces[this.pieces.length - 1].element.textContent ?? ""));
    setText(this.note, this.root.querySelector(".waits") ? waits : "");
  }

  // Returns the current text of the piece with index i of the arithmetic.
  // place: { step, index } of the number in this piece, if it has one.
  spellAt(i, place, numberAt, isMark) {
    const { text } = this.pieces[i];
    const number = place.step === undefined ? null : numberAt(place);
    if (number === null) return text;
    const said = isMark(place) ? String(number) : spellTerm(number);
    if (i === this.pieces.length - 1) return text.replace(/[^ ]+$/, said); // the result is the last word of the text
    return said.startsWith("−") && /[×+−] $/.test(this.pieces[i - 1]?.text ?? "") ? `(${said})` : said;
  }

  // Returns the lines of the arithmetic, each an element with its pieces.
  // A new line begins with the sign before a term, with a denominator, and with the result.
  lines() {
    const lines = [];
    this.pieces.forEach((piece, i) => {
      const isSign = piece.step === undefined && STARTS.test(piece.text);
      if (i === 0 || isSign || DIVIDES.test(this.pieces[i - 1].text)) lines.push([]);
      const isOperand = piece.step !== undefined;
      lines.at(-1).push(isOperand ? this.button(piece, `operand ${piece.family}`, piece.element) : piece.element);
    });
    return lines.map((pieces) => element("span", "line", pieces));
  }

  // content: the element of the number; null for a text. flow.css shows the place's word below it.
  button(place, name, content = null) {
    const { text, title, step, index, word } = place;
    const look = { title, ariaLabel: [word, `${text}: ${title}`].filter(Boolean).join(", ") };
    const made = button(name, look, () => this.open({ step, index }));
    made.append(content ?? text);
    if (word) made.dataset.word = word;
    this.places.set(made, place);
    made.onpointerenter = made.onfocus = () => this.pointAt(place);
    made.onpointerleave = made.onblur = () => this.pointAt(null);
    return made;
  }

  // Highlights the cell that the visitor points at: among the operands, and by its ring in the picture.
  // place: { step, index } of the cell, or null for none.
  pointAt(place) {
    this.pointed = place;
    for (const chip of this.root.querySelectorAll(".operand"))
      chip.classList.toggle("pointed", place !== null && isSamePlace(this.places.get(chip), place));
    this.point();
  }

  isPointed(cell) {
    return this.pointed !== null && isSamePlace(this.pointed, cell);
  }

  // Places the arithmetic as a sheet over the lower edge of the screen, or moves it back into the picture.
  // A popover lies above everything on the page, and its position refers to the screen.
  lie(isSheet) {
    if (isSheet === this.isSheet && (!isSheet || this.root.matches(":popover-open"))) return;
    this.isSheet = isSheet;
    this.root.classList.toggle("sheet", isSheet);
    this.root.popover = isSheet ? "manual" : null;
    if (!isSheet) return;
    this.root.removeAttribute("style");
    this.root.showPopover();
  }

  // Returns the height of the arithmetic at a width, at most 150 px; longer arithmetic scrolls.
  heightAt(width) {
    const { style } = this.root;
    [style.width, style.height, style.right] = [`${width}px`, "auto", "auto"];
    const height = Math.min(150, this.root.scrollHeight);
    [style.width, style.right] = ["", ""];
    return height;
  }

  place(top, height, left) {
    if (this.isSheet) return;
    Object.assign(this.root.style, { top: `${top}px`, height: `${height}px`, left: `${left}px` });
  }
}

const STARTS = /^ [+−] |^\)+ = |^ = /; // matches a piece of the arithmetic that begins a new line
const DIVIDES = /\/ \($/; // matches a piece of the arithmetic after which a new line begins

// Returns the last word of a text, such as the number after the last "=".
const resultOf = (text) => text.split(" ").at(-1) ?? "";

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Returns a number as the server writes it in arithmetic: two decimals, or two significant digits below 0.005.
function spellTerm(number) {
  const size = Math.abs(number);
  if (size === 0 || size >= 0.005) return fixed(number);
  return `${number < 0 ? "−" : ""}${twoDigits(size)}`;
}

// Returns a number with six significant digits, as many as the browser's own computation gives reliably.
const spellLong = (number) =>
  Number.isFinite(number) ? printed(String(Number(number.toPrecision(6)))) : fixed(number);
