// Helps to draw pictures of words with lines between them: makes curves, handles hovered and selected words.
// Shapes are kept from one drawing to the next, so that their changes are animated.
import { setAttributes, svgShape } from "../dom.js";
import { roving } from "../roving.js";

export class WordPicture {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.svg = root.appendChild(svgShape("svg"));
    this.made = new Map(); // key of a shape -> the shape, for all shapes made so far
    this.used = new Set(); // keys of the shapes in the current drawing
  }

  /**
   * Draws the picture; all its words together are one stop of the Tab key.
   * @param {object} picture
   * @param {number} picture.height
   * @param {string} picture.label
   * @param {() => SVGElement[]} makeShapes creates all shapes by `put`, from bottom to top
   * @param {(svg: SVGElement, shapes: SVGElement[]) => void} arrange puts the shapes into the picture
   */
  draw({ height, label }, makeShapes, arrange) {
    this.used.clear();
    const fill = () => {
      const shapes = makeShapes();
      for (const key of this.made.keys()) if (!this.used.has(key)) this.remove(key);
      arrange(this.svg, shapes);
    };
    roving(this.root, fill, "[role=button]");
    const viewBox = `0 0 ${this.root.clientWidth} ${height}`;
    setAttributes(this.svg, { viewBox, role: "group", "aria-label": label });
  }

  /**
   * Sets and returns the shape of a key; the shape of the previous drawing is reused.
   * @param {string} key
   * @param {keyof SVGElementTagNameMap} kind
   * @param {Record<string, any>} attributes
   * @param {string} [text]
   */
  put(key, kind, attributes, text) {
    if (!this.made.has(key)) this.made.set(key, svgShape(kind));
    const shape = this.made.get(key);
    this.used.add(key);
    setAttributes(shape, attributes);
    if (text !== undefined && shape.textContent !== text) shape.textContent = text;
    return shape;
  }

  remove(key) {
    this.made.get(key).remove();
    this.made.delete(key);
  }
}

/**
 * The path of a curve between two points that begins and ends vertically.
 * @type {(x: number, y: number, x2: number, y2: number) => string}
 */
export const curve = (x, y, x2, y2) => `M${x} ${y}C${x} ${(y + y2) / 2} ${x2} ${(y + y2) / 2} ${x2} ${y2}`;

/**
 * Calls a function on a click, a tap, Enter or Space on a shape.
 * @param {any} shape
 * @param {() => void} act
 */
export function onPress(shape, act) {
  shape.onclick = act;
  shape.onkeyup = ({ key }) => (key === "Enter" || key === " ") && act();
}

/**
 * Calls look and leave when the mouse or the focus enters or leaves a word, and choose on a click, a tap or a key.
 * @param {any} word
 * @param {{ look: () => void, leave: () => void, choose: () => void }} acts
 */
export function listenToWord(word, { look, leave, choose }) {
  word.onpointerenter = ({ pointerType }) => pointerType === "mouse" && look();
  word.onpointerleave = ({ pointerType }) => pointerType === "mouse" && leave();
  word.onfocus = () => word.matches(":focus-visible") && look();
  word.onblur = leave;
  onPress(word, choose);
}
