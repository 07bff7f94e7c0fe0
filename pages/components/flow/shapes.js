// Shapes of a drawing by key: made once, changed only where a value changed, hidden where they are not drawn. What is
// drawn together with others, thousands of small cells as few paths, is noted: it has a place and a meaning, and an
// element only where keys came to it.
import { addedShape, setAttributes } from "../dom.js";

export class Shapes {
  /**
   * @param {SVGElement} svg
   * @param {string[]} layers from the lowest
   */
  constructor(svg, layers) {
    this.layers = new Map();
    for (const name of layers) {
      this.layers.set(name, addedShape(svg, "g", { class: name }));
    }
    this.made = new Map();
    this.groups = new Map(); // within a layer, such as a row
    this.round = 0;
  }

  begin() {
    this.round++;
  }

  /**
   * Draws a shape.
   * @param {string} layer
   * @param {string} kind of the element
   * @param {string} key
   * @param {Record<string, any>} attributes text and title, too
   * @param {any} [means] what a pointer on the shape points at
   * @param {string | number | null} [group] what moves together, such as a row
   * @returns {any} the element
   */
  put(layer, kind, key, attributes, means = null, group = null) {
    const id = `${layer} ${key}`;
    let shape = this.made.get(id);
    if (!shape) {
      const element = addedShape(group === null ? this.layers.get(layer) : this.group(layer, group), kind);
      shape = { element, attributes: {}, isShown: true };
      this.made.set(id, shape);
    } else if (!shape.element) this.elementOf(shape);
    shape.round = this.round;
    shape.means = shape.element.means = means;
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

  /** The element of a shape; of a noted one an empty one in its place. @param {any} shape */
  elementOf(shape) {
    if (!shape.element) {
      shape.element = addedShape(this.layers.get(shape.layer), "rect", { ...shape.attributes, class: "walked" });
      shape.element.means = shape.means;
    }
    return shape.element;
  }

  group(layer, name) {
    const id = `${layer} ${name}`;
    if (!this.groups.has(id)) this.groups.set(id, addedShape(this.layers.get(layer), "g"));
    return this.groups.get(id);
  }

  /**
   * Moves a group at once: a row of many cells moves as fast as one.
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

// What is said of a shape where a pointer rests on it.
function titleOf(element) {
  return element.querySelector("title") ?? addedShape(element, "title");
}
