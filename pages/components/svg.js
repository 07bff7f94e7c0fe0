// A shape of an SVG picture, or the picture itself. A page without a server allows a style by its property alone.
/**
 * @param {string} kind
 * @param {Record<string, any>} [attributes]
 * @param {string | number} [text]
 * @returns {any} the element: an <svg> or a shape in it
 */
export function svgShape(kind, { style = "", ...attributes } = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (style) made.style.cssText = style;
  if (text !== undefined) made.textContent = String(text);
  return made;
}
