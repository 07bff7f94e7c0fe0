// A shape of an SVG picture, or the picture itself.
function svgShape(kind, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
