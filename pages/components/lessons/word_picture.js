// What pictures of words with lines between them share: shapes that stay from one drawing to the next, so that what
// changes of them moves; curves; and words that are pointed at and chosen.
import { setAttributes, svgShape } from "../dom.js";
import { roving } from "../roving.js";

export class WordPicture {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.svg = root.appendChild(svgShape("svg"));
    this.made = new Map(); // shapes by key
    this.used = new Set(); // the keys of the drawing under way
  }

  /**
   * Draws the picture; its words are one stop of the Tab key.
   * @param {object} picture
   * @param {number} picture.height
   * @param {string} picture.label
   * @param {() => SVGElement[]} makeShapes all shapes, by `put`; later ones lie over earlier ones
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
   * The shape with a key: the same as in the drawing before, if there was one.
   * @param {string} key
   * @param {string} kind
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
 * A curve from one point to another that begins and ends upright.
 * @type {(x: number, y: number, x2: number, y2: number) => string}
 */
export const curve = (x, y, x2, y2) => `M${x} ${y}C${x} ${(y + y2) / 2} ${x2} ${(y + y2) / 2} ${x2} ${y2}`;

/**
 * A click, a tap, Enter or Space on a shape.
 * @param {any} shape
 * @param {() => void} act
 */
export function onPress(shape, act) {
  shape.onclick = act;
  shape.onkeyup = ({ key }) => (key === "Enter" || key === " ") && act();
}

/**
 * A word is pointed at by the mouse or by the keyboard; a finger only chooses it.
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
