// Creates elements and SVG shapes, and changes them only where a value is new.

/** @typedef {string | number | (Node | string)[] | Record<string, any>} Content */

/**
 * Creates an element.
 * @template {keyof HTMLElementTagNameMap} Kind
 * @param {Kind} kind
 * @param {string} [name] its class
 * @param {Content} [content] its text, its children, or its properties; place: its data-place, by which it keeps the
 *   focus
 * @param {(Node | string)[]} [children]
 * @returns {HTMLElementTagNameMap[Kind]}
 */
export function element(kind, name = "", content = {}, children = []) {
  if (Array.isArray(content)) return element(kind, name, {}, content);
  const { place, ...properties } = typeof content === "object" ? content : { textContent: content };
  const made = Object.assign(document.createElement(kind), { className: name, ...properties });
  if (place !== undefined) made.dataset.place = place;
  made.append(...children);
  return made;
}

/**
 * @param {string} name its class
 * @param {Record<string, any>} properties
 * @param {(event: MouseEvent) => void} act what a click does
 * @param {(Node | string)[]} [children]
 * @returns {HTMLButtonElement}
 */
export const button = (name, properties, act, children) =>
  element("button", name, { type: "button", onclick: act, ...properties }, children);

/**
 * Creates a link that is followed by `open`, unless the visitor opens it in another window or tab.
 * @param {string} address
 * @param {() => void} open
 * @param {(Node | string)[]} children
 * @returns {HTMLAnchorElement}
 */
export function linkTo(address, open, children) {
  const onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  };
  return element("a", "", { href: address, onclick }, children);
}

/**
 * Creates a select box.
 * @param {string[][]} options pairs of a value and its text
 * @param {Record<string, any>} properties; value: the chosen option
 * @returns {HTMLSelectElement}
 */
export function selectOf(options, { value, ...properties }) {
  const made = element("select", "", properties, options.map(([value, name]) => new Option(name, value)));
  made.value = value;
  return made;
}

/**
 * Appends a new element, and returns it.
 * @template {keyof HTMLElementTagNameMap} Kind
 * @param {Node} parent
 * @param {Kind} kind
 * @param {string} [name]
 * @param {Content} [content]
 */
export const added = (parent, kind, name, content) => parent.appendChild(element(kind, name, content));

/**
 * Creates an SVG element. Its style is set as a property: a page without a server forbids style attributes.
 * @template {keyof SVGElementTagNameMap} Kind
 * @param {Kind} kind
 * @param {Record<string, any>} [attributes]
 * @param {string | number | SVGElement[]} [content] its text or its children
 * @returns {SVGElementTagNameMap[Kind]}
 */
export function svgShape(kind, { style = "", ...attributes } = {}, content = []) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (style) made.style.cssText = style;
  if (Array.isArray(content)) made.append(...content);
  else made.textContent = String(content);
  return made;
}

/** The classes whose condition holds, as an attribute. @type {(...names: (string | false)[]) => string} */
export const classes = (...names) => names.filter(Boolean).join(" ");

const styles = new WeakMap(); // element -> its style as text, which a browser would return in another spelling

/**
 * Sets an attribute only if its value differs, so that the browser does not draw the element again.
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

/**
 * Appends a new SVG element, and returns it.
 * @template {keyof SVGElementTagNameMap} Kind
 * @param {Element} parent
 * @param {Kind} kind
 * @param {Record<string, any>} [attributes]
 */
export const addedShape = (parent, kind, attributes) => parent.appendChild(svgShape(kind, attributes));

/** @type {(element: any, attributes: Record<string, any>) => void} */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) setOnce(element, name, value);
}

const written = new WeakMap(); // element -> the texts written into it, as JSON

/**
 * Fills an element with texts, each in a span with a class; does nothing if they are unchanged.
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
 * Sets colours of a palette as CSS properties of an element: --ink, --share.
 * @param {HTMLElement} root
 * @param {Record<string, string>} palette
 * @param {string[]} [names] the colours that the style sheet uses; by default all
 */
export function setColours(root, palette, names = Object.keys(palette)) {
  for (const name of names) root.style.setProperty(`--${name}`, palette[name]);
}

const states = new WeakMap();

/**
 * The state of a component that belongs to an element, and is kept from one call of the component to the next.
 * @param {HTMLElement} root
 * @param {() => any} make creates the state at the first call
 */
export function stateOf(root, make = () => ({ root })) {
  if (!states.has(root)) states.set(root, make());
  return states.get(root);
}

const drawnData = new WeakMap(); // element -> a copy of the bytes that the element shows

/**
 * Whether an element already shows these data; if not, they are recorded as shown.
 * @param {Element} root
 * @param {Uint8Array} data
 */
export function isDrawn(root, data) {
  const before = drawnData.get(root);
  if (before?.length === data.length && before.every((byte, i) => byte === data[i])) return true;
  drawnData.set(root, data.slice());
  return false;
}

const resized = new WeakMap(); // element -> the callback for changes of its size

/**
 * Calls a function whenever the size of an element changes, also when it gets its first size.
 * @param {Element} root
 * @param {() => void} draw replaces the function of an earlier call
 */
export function onResize(root, draw) {
  const isNew = !resized.has(root);
  resized.set(root, draw);
  if (isNew) new ResizeObserver(() => resized.get(root)()).observe(root);
}

/** The element with the focus in the document or shadow root of a node. @type {(node: Node) => HTMLElement | null} */
export function focused(node) {
  /** @type {any} */
  const root = node.getRootNode();
  return root.activeElement;
}

/**
 * Call this before an element is redrawn. Returns a function to call afterwards, which focuses the part with the same
 * data-place again.
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
