// Manages the SVG shapes of a drawing by keys: created once, changed only with their values, hidden if not drawn.
// Thousands of cells are drawn together in a few paths; for each cell, only position and meaning are stored.
// A cell of such a path gets its own element only when it gets the keyboard focus.
import { addedShape, setAttributes } from "../dom.js";

const shapes = new WeakMap(); // SVG element -> the shape that it draws

/** What the shape of an element stands for; undefined if it is no shape. @param {EventTarget | null} element */
export const meaningOf = (element) => (element ? shapes.get(element)?.means : undefined);

export class Shapes {
  /**
   * @param {SVGElement} svg
   * @param {string[]} layers the names of the layers, from bottom to top
   */
  constructor(svg, layers) {
    this.layers = new Map();
    for (const name of layers) {
      this.layers.set(name, addedShape(svg, "g", { class: name }));
    }
    this.made = new Map();
    this.groups = new Map(); // layer and name -> the <g> of shapes that move together, such as a row
    this.round = 0;
  }

  begin() {
    this.round++;
  }

  /**
   * Draws a shape.
   * @param {string} layer
   * @param {string} kind the tag of the element
   * @param {string} key
   * @param {Record<string, any>} attributes also text and title
   * @param {any} [means] what the shape stands for, read by pointers and keys
   * @param {string | number | null} [group] the group of shapes that move together, such as a row
   * @returns {any} the element
   */
  put(layer, kind, key, attributes, means = null, group = null) {
    const id = `${layer} ${key}`;
    let shape = this.made.get(id);
    if (!shape) {
      shape = { attributes: {}, isShown: true };
      this.addElement(shape, group === null ? this.layers.get(layer) : this.group(layer, group), kind);
      this.made.set(id, shape);
    } else if (!shape.element) this.elementOf(shape);
    shape.round = this.round;
    shape.means = means;
    if (!shape.isShown) shape.element.style.display = "";
    shape.isShown = true;
    for (const [name, value] of Object.entries(attributes)) this.set(shape, name, value);
    return shape.element;
  }

  /**
   * Notes a rectangle that is drawn together with others.
   * @param {string} layer
   * @param {string} key
   * @param {Record<string, any>} attributes
   * @param {any} means
   */
  note(layer, key, attributes, means) {
    const id = `${layer} ${key}`;
    const shape = this.made.get(id) ?? { layer, element: null, attributes: {}, isShown: true };
    if (shape.element) {
      this.put(layer, "rect", key, { ...attributes, class: "walked" }, means);
      return;
    }
    Object.assign(shape, { round: this.round, attributes, means });
    this.made.set(id, shape);
  }

  /** The element of a shape; for a noted shape, an empty rectangle is created. @param {any} shape */
  elementOf(shape) {
    if (!shape.element)
      this.addElement(shape, this.layers.get(shape.layer), "rect", { ...shape.attributes, class: "walked" });
    return shape.element;
  }

  addElement(shape, parent, kind, attributes) {
    shape.element = addedShape(parent, kind, attributes);
    shapes.set(shape.element, shape);
  }

  group(layer, name) {
    const id = `${layer} ${name}`;
    if (!this.groups.has(id)) this.groups.set(id, addedShape(this.layers.get(layer), "g"));
    return this.groups.get(id);
  }

  /**
   * Moves a whole group, so that a row of many cells costs as much as one shape.
   * @type {(layer: string, name: string | number, down: number, opacity: number) => void}
   */
  moveGroup(layer, name, down, opacity) {
    const rounded = (number) => Math.round(number * 100) / 100;
    setAttributes(this.group(layer, name), { transform: `translate(0,${rounded(down)})`, opacity: rounded(opacity) });
  }

  set(shape, name, given) {
    const value = typeof given === "number" ? Math.round(given * 100) / 100 : given;
    if (shape.attributes[name] === value) return;
    shape.attributes[name] = value;
    if (name === "text") shape.element.textContent = value;
    else if (name === "title") titleOf(shape.element).textContent = value;
    else shape.element.setAttribute(name, value);
  }

  end() {
    for (const shape of this.made.values()) {
      if (shape.round === this.round || !shape.isShown || !shape.element) continue;
      shape.element.style.display = "none";
      shape.isShown = false;
    }
  }
}

// Returns the <title> element of a shape (its tooltip), which is created if it is missing.
function titleOf(element) {
  return element.querySelector("title") ?? addedShape(element, "title");
}
