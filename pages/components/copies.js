// Copies what the screen shows (shapes, texts, boxes, maps of cells) as shapes of an SVG file.
// Each copy has all its styles as attributes, because many programs do not read a style sheet inside an SVG.
import { svgShape } from "./dom.js";
import { shortened } from "./flow/words.js";
import { penOf } from "./pixels.js";
import { WIDE } from "./printed.js";

const CENTRAL = "0.35em"; // distance from the middle of a line to its baseline; few programs know `dominant-baseline`
const GEOMETRY = [
  "x", "y", "width", "height", "rx", "d", "points", "cx", "cy", "r", "x1", "y1", "x2", "y2", "transform", "offset",
  "gradientUnits", "clip-path", "id",
];
// Style -> its default in an SVG. Styles of strokes are written only for a shape that has a stroke.
const USUAL = { fill: "#000000", "fill-opacity": "1", opacity: "1", stroke: "none" };
const USUAL_STROKE = {
  "stroke-width": "1px", "stroke-opacity": "1", "stroke-dasharray": "none", "stroke-linecap": "butt",
  "stroke-linejoin": "miter", "paint-order": "normal",
};
const USUAL_TEXT = { "font-size": "", "font-weight": "400", "text-anchor": "start" };
const BELOW = 8; // px: free space below the copied elements in the file
const DASHES = "4 3"; // dashes of the line below a marked word, because few programs know dashed text decorations

// ---- shapes of SVG -------------------------------------------------------------------------------------------------
/**
 * Copies the visible children of an SVG element, with their geometry and their styles as attributes.
 * @param {Element} parent
 * @returns {SVGElement[]}
 */
export function copyShapes(parent) {
  const copies = [];
  for (const shape of parent.children) {
    const style = getComputedStyle(shape);
    if (style.display === "none" || style.opacity === "0" || shape.tagName === "title") continue;
    const tagName = /** @type {keyof SVGElementTagNameMap} */ (shape.tagName);
    const isGroup = ["g", "clipPath", "linearGradient"].includes(tagName);
    const children = isGroup ? copyShapes(shape) : [];
    if (isGroup && !children.length) continue;
    const attributes = attributesOf(shape, style);
    if (!isGroup && tagName !== "stop" && attributes.fill === "none" && !attributes.stroke && !isClip(shape)) continue;
    const text = tagName === "text" ? shape.firstChild?.textContent ?? "" : "";
    if (text && style.writingMode.startsWith("vertical")) copies.push(...copyUpright(text, attributes));
    else copies.push(svgShape(tagName, attributes, text || children));
    if (style.textDecorationLine === "underline") copies.push(lineBelow(shape, style));
  }
  return copies;
}

// Returns the line below a text as a separate shape.
function lineBelow(text, style) {
  const { x, width } = text.getBBox();
  const y = Number(text.getAttribute("y")) + 0.6 * parseFloat(style.fontSize);
  const dashes = style.textDecorationStyle === "dashed" ? { "stroke-dasharray": DASHES } : {};
  return svgShape("path", {
    d: `M${x},${y}h${width}`, fill: "none", stroke: plainColour(style.fill).colour, "stroke-width": 2, ...dashes,
  });
}

/**
 * Copies an upright text, which ends at its y. Few programs write downwards: Each Chinese character becomes a
 * separate text, one below the other; other texts are turned.
 * @param {string} text
 * @param {Record<string, any>} attributes of the text
 */
function copyUpright(text, { x, y, "font-size": size, ...attributes }) {
  if (!WIDE.test(text)) {
    const turn = `translate(${x},${y}) rotate(90)`;
    return [svgShape("text", { ...attributes, transform: turn, dy: CENTRAL, "font-size": size }, text)];
  }
  const letters = [...text];
  const height = parseFloat(size);
  return letters.map((letter, i) => svgShape("text", {
    ...attributes, x, y: Number(y) - (letters.length - i - 0.5) * height, dy: CENTRAL,
    "font-size": size, "text-anchor": "middle",
  }, letter));
}

const isClip = (shape) => shape.parentNode.tagName === "clipPath";

function attributesOf(shape, style) {
  const attributes = {};
  for (const name of GEOMETRY) if (shape.hasAttribute(name)) attributes[name] = shape.getAttribute(name);
  if (["clipPath", "linearGradient"].includes(shape.tagName) || isClip(shape)) return attributes;
  if (shape.tagName === "stop") return { ...attributes, "stop-color": plainColour(style.stopColor).colour };
  if (shape.tagName === "g") return style.opacity === "1" ? attributes : { ...attributes, opacity: style.opacity };
  const usual = { ...USUAL, ...(style.stroke === "none" ? {} : USUAL_STROKE) };
  addStyles(attributes, style, shape.tagName === "text" ? { ...usual, ...USUAL_TEXT } : usual);
  if (shape.tagName === "text" && style.dominantBaseline === "central") attributes.dy = CENTRAL;
  return attributes;
}

// Adds the styles that differ from the default; a partly transparent colour becomes a colour and an opacity.
function addStyles(attributes, style, usual) {
  for (const [name, value] of Object.entries(usual)) {
    const given = style.getPropertyValue(name);
    if (name !== "fill" && name !== "stroke") {
      if (given !== value) attributes[name] = given;
      continue;
    }
    const { colour, opacity } = plainColour(given);
    if (colour !== value) attributes[name] = colour;
    if (opacity < 1) attributes[`${name}-opacity`] = opacity * Number(style.getPropertyValue(`${name}-opacity`));
  }
}

/**
 * A computed colour as six hexadecimal digits and an opacity; references and "none" are kept.
 * @param {string} computed such as "rgb(1, 2, 3)", "rgba(1, 2, 3, 0.5)" or "color(srgb 0.1 0.2 0.3 / 0.5)"
 * @returns {{ colour: string, opacity: number }}
 */
export function plainColour(computed) {
  if (!/^(rgb|color)/.test(computed)) return { colour: computed.replaceAll('"', ""), opacity: 1 };
  const isShare = computed.startsWith("color");
  const numbers = (computed.slice(computed.indexOf("(")).match(/[\d.]+(e-\d+)?/g) ?? []).map(Number);
  const [red, green, blue, opacity = 1] = numbers;
  if (opacity === 0) return { colour: "none", opacity: 1 };
  const parts = [red, green, blue].map((part) => Math.round(isShare ? 255 * part : part));
  return { colour: `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`, opacity };
}

// ---- elements of HTML -----------------------------------------------------------------------------------------------
/**
 * Copies what elements show, and returns the rectangle that they fill.
 * @param {Element[]} parts
 */
export function copyParts(parts) {
  const boxes = parts.map((each) => each.getBoundingClientRect()).filter(({ height }) => height > 0);
  const [left, top] = [Math.min(...boxes.map((each) => each.left)), Math.min(...boxes.map((each) => each.top))];
  const width = Math.max(...boxes.map(({ right }) => right - left));
  const height = Math.max(...boxes.map(({ bottom }) => bottom - top)) + BELOW;
  const drawn = parts.flatMap((each) => copyElement(each, { left, top }));
  return { drawn, box: { left: 0, top: 0, width, height } };
}

/**
 * Copies what an element shows: its box, the cells of a canvas with one pixel per cell, shapes, and texts.
 * @param {Element} from
 * @param {{ left: number, top: number }} corner the point of the window that is the corner of the picture
 * @param {number} [end] where longer texts are cut, in px from the left of the window
 * @returns {SVGElement[]}
 */
function copyElement(from, corner, end = Infinity) {
  const style = getComputedStyle(from);
  if (style.display === "none" || style.visibility === "hidden") return [];
  const { left, top, right, width, height } = from.getBoundingClientRect();
  const [x, y] = [left - corner.left, top - corner.top];
  if (from.tagName === "svg") return [svgShape("g", { transform: `translate(${x},${y})` }, copyShapes(from))];
  const cut = style.textOverflow === "ellipsis" ? Math.min(end, right) : end;
  const parts = [...from.childNodes].flatMap((node) => {
    if (node instanceof Text) return copyText(node, style, corner, cut);
    return node instanceof Element ? copyElement(node, corner, cut) : [];
  });
  const cells = from instanceof HTMLCanvasElement ? copyCells(from, { x, y, width, height }) : [];
  const shapes = [...copyBox(style, { x, y, width, height }), ...cells, ...parts];
  return style.opacity === "1" ? shapes : [svgShape("g", { opacity: style.opacity }, shapes)];
}

// Returns the background and the border of an element as shapes.
function copyBox(style, { x, y, width, height }) {
  const fill = plainColour(style.backgroundColor);
  const stroke = plainColour(style.borderTopColor);
  const border = style.borderTopStyle === "none" || stroke.colour === "none" ? 0 : parseFloat(style.borderTopWidth);
  if (fill.colour === "none" && !border) return [];
  const inner = { x: x + border / 2, y: y + border / 2, width: width - border, height: height - border };
  const look = { fill: fill.colour, "fill-opacity": fill.opacity, rx: parseFloat(style.borderTopLeftRadius) || 0 };
  const edge = border ? { stroke: stroke.colour, "stroke-width": border } : {};
  return [svgShape("rect", { ...inner, ...look, ...edge })];
}

// Returns the cells of a map: one path for all cells of a colour, which joins adjacent cells to one rectangle.
function copyCells(canvas, { x, y, width, height }) {
  const { width: columns, height: rows } = canvas;
  if (!columns || !rows) return [];
  const colours = new Uint32Array(penOf(canvas).getImageData(0, 0, columns, rows).data.buffer);
  const [wide, tall] = [width / columns, height / rows];
  const short = (number) => Math.round(100 * number) / 100;
  /** @type {Map<number, string[]>} */
  const paths = new Map();
  for (let row = 0; row < rows; row++) {
    for (let column = 0, next = 0; column < columns; column = next) {
      const colour = colours[row * columns + column];
      for (next = column + 1; next < columns && colours[row * columns + next] === colour; ) next++;
      if (!(colour >>> 24)) continue;
      const across = short((next - column) * wide);
      const path = paths.get(colour) ?? paths.set(colour, []).get(colour);
      path?.push(`M${short(x + column * wide)},${short(y + row * tall)}h${across}v${short(tall)}h${-across}z`);
    }
  }
  const look = (colour) => ({ fill: hexOf(colour), "fill-opacity": short((colour >>> 24) / 255) });
  return [...paths].map(([colour, path]) =>
    svgShape("path", { d: path.join(""), ...look(colour), "shape-rendering": "crispEdges" }),
  );
}

// Returns the colour of a pixel as CSS; its bytes are alpha, blue, green and red.
const hexOf = (pixel) =>
  `#${[0, 8, 16].map((shift) => ((pixel >>> shift) & 255).toString(16).padStart(2, "0")).join("")}`;

// Returns a text in the lines that the browser has broken it into; text beyond the edge of its box is cut off.
function copyText(node, style, corner, cut) {
  const { colour, opacity } = plainColour(style.color);
  const size = parseFloat(style.fontSize);
  const weight = style.fontWeight === "400" ? {} : { "font-weight": style.fontWeight };
  const look = { "font-size": size, fill: colour, "fill-opacity": opacity, dy: CENTRAL, ...weight };
  return linesOf(node).flatMap(({ text, left, middle }) => {
    if (left >= cut) return [];
    const shown = shortened(text.trimEnd(), cut - left + 4, size, Number(style.fontWeight));
    return shown ? [svgShape("text", { x: left - corner.left, y: middle - corner.top, ...look }, shown)] : [];
  });
}

// Returns the lines of a text, with the left edge and the middle of each in window coordinates.
function linesOf(node) {
  const range = document.createRange();
  /** @type {{ text: string, left: number, middle: number }[]} */
  const lines = [];
  let place = 0;
  for (const letter of node.data) {
    range.setStart(node, place);
    range.setEnd(node, (place += letter.length));
    const box = range.getClientRects()[0];
    if (!box?.width) continue; // skips white space that the browser does not show
    const [line, middle] = [lines.at(-1), box.top + box.height / 2];
    if (line && Math.abs(line.middle - middle) < box.height / 2) line.text += letter;
    else lines.push({ text: letter, left: box.left, middle });
  }
  return lines;
}
