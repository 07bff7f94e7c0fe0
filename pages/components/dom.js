// Elements and shapes: made, and changed only where something is new.

/**
 * An element. content: its text, or its properties.
 * @param {string} kind
 * @param {string} [name] its class
 * @param {string | number | Record<string, any>} [content]
 * @returns {any} an HTMLElement of that kind
 */
export function element(kind, name = "", content = {}) {
  const properties = typeof content === "object" ? content : { textContent: content };
  return Object.assign(document.createElement(kind), { className: name, ...properties });
}

/**
 * @param {string} name its class
 * @param {Record<string, any>} properties
 * @param {(event: MouseEvent) => void} act what a click does
 * @returns {HTMLButtonElement}
 */
export const button = (name, properties, act) =>
  element("button", name, { type: "button", onclick: act, ...properties });

/** An element at the end of another. @type {(parent: Node, kind: string, name?: string) => any} */
export const added = (parent, kind, name) => parent.appendChild(element(kind, name));

/**
 * A shape of an SVG picture, or the picture itself. A page without a server allows a style by its property alone.
 * @param {string} kind
 * @param {Record<string, any>} [attributes]
 * @param {string | number} [text]
 * @returns {any} an SVGElement of that kind
 */
export function svgShape(kind, { style = "", ...attributes } = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (style) made.style.cssText = style;
  if (text !== undefined) made.textContent = String(text);
  return made;
}

const styles = new WeakMap(); // the style that setOnce wrote last: a browser gives it back in other words

/**
 * Sets an attribute if it has another value: what is written again, the browser draws again.
 * @param {Element & ElementCSSInlineStyle} element
 * @param {string} name
 * @param {any} value
 */
export function setOnce(element, name, value) {
  if (name !== "style") {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
    return;
  }
  if (styles.get(element) === value) return;
  styles.set(element, value);
  element.style.cssText = value;
}

/** A shape at the end of another. @type {(parent: Element, kind: string, attributes?: Record<string, any>) => any} */
export const addedShape = (parent, kind, attributes) => parent.appendChild(svgShape(kind, attributes));

/** @type {(element: any, attributes: Record<string, any>) => void} */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) setOnce(element, name, value);
}

const written = new WeakMap(); // the texts of an element, as JSON

/**
 * Writes texts into an element, each with a class; does nothing if they are there already.
 * @param {Element} parent
 * @param {string[][]} texts pairs of a text and a class
 */
export function write(parent, texts) {
  const said = JSON.stringify(texts);
  if (written.get(parent) === said) return;
  written.set(parent, said);
  parent.replaceChildren(...texts.map(([text, look]) => element("span", look, text)));
}

/**
 * Makes colours of a palette properties of CSS: --ink, --share.
 * @param {HTMLElement} root
 * @param {Record<string, string>} palette
 * @param {string[]} [names] those that the style sheet uses
 */
export function setColours(root, palette, names = Object.keys(palette)) {
  for (const name of names) root.style.setProperty(`--${name}`, palette[name]);
}

const states = new WeakMap();

/**
 * What a component remembers of its element from one call of it to the next.
 * @param {HTMLElement} root
 * @param {() => any} make makes it at the first call
 */
export function stateOf(root, make = () => ({ root })) {
  if (!states.has(root)) states.set(root, make());
  return states.get(root);
}

const drawnData = new WeakMap(); // a copy of the bytes that an element shows

/**
 * Whether an element shows these data already; if not, they count as shown from now on.
 * @param {Element} root
 * @param {Uint8Array} data
 */
export function isDrawn(root, data) {
  const before = drawnData.get(root);
  if (before?.length === data.length && before.every((byte, i) => byte === data[i])) return true;
  drawnData.set(root, data.slice());
  return false;
}

const resized = new WeakMap(); // what is called when an element has another size

/**
 * Draws an element whenever it has another size, also when it gets its first one.
 * @param {Element} root
 * @param {() => void} draw takes the place of the one before
 */
export function onResize(root, draw) {
  const isNew = !resized.has(root);
  resized.set(root, draw);
  if (isNew) new ResizeObserver(() => resized.get(root)()).observe(root);
}

/** The element with the focus, in the page or the component of a node. @type {(node: Node) => HTMLElement | null} */
export function focused(node) {
  /** @type {any} */
  const root = node.getRootNode();
  return root.activeElement;
}

/**
 * Call this before an element is drawn anew, and what it returns afterwards: the part with the same data-place gets the
 * focus again.
 * @param {Element} root
 */
export function keepFocus(root) {
  const place = focused(root)?.dataset.place;
  return () => {
    /** @type {HTMLElement | null} */
    const part = place ? root.querySelector(`[data-place="${CSS.escape(place)}"]`) : null;
    part?.focus();
  };
}
