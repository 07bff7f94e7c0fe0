// Small pictures, as attention_core/drawing/small_pictures.py gives them: [kind, colour, strength, ...numbers] each; of a text the last says what.
const DRAWN = {
  rect: ([x, y, width, height]) => ["rect", { x, y, width, height, rx: 1.5 }],
  frame: ([x, y, width, height]) => ["rect", { x, y, width, height, rx: 1.5 }],
  dot: ([cx, cy, r]) => ["circle", { cx, cy, r }],
  line: ([x1, y1, x2, y2, width]) => ["line", { x1, y1, x2, y2, "stroke-width": width }],
  path: (points) => ["polyline", { points: points.join(" "), "stroke-width": 3 }],
  arc: ([from, to, foot, height, width]) => ["path", { d: `M${from} ${foot} Q${(from + to) / 2} ${foot - height} ${to} ${foot}`, "stroke-width": width }],
  text: ([x, y, size]) => ["text", { x, y, "font-size": size, "text-anchor": "middle", "dominant-baseline": "central" }],
};
const FILLED = ["rect", "dot", "text"];

export function drawPicture(shapes) {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 160 90", "aria-hidden": "true" })) picture.setAttribute(name, value);
  for (const [kind, colour, strength, ...numbers] of shapes) {
    const [tag, attributes] = DRAWN[kind](numbers);
    const drawn = picture.appendChild(document.createElementNS(picture.namespaceURI, tag));
    for (const [name, value] of Object.entries(attributes)) drawn.setAttribute(name, value);
    drawn.style[FILLED.includes(kind) ? "fill" : "stroke"] = `var(--${colour})`;
    drawn.style.opacity = strength;
    if (kind === "text") drawn.textContent = numbers.at(-1);
  }
  return picture;
}

export function element(tag, className, textContent = "") {
  return Object.assign(document.createElement(tag), { className, textContent });
}
