// Draws the flow picture out of sight, wider than high, and writes it as the text of an SVG file or as a PNG.
// The file contains all styles as attributes, because many programs do not read a style sheet inside an SVG.
import { element, svgShape } from "../dom.js";
import { unpacked } from "../pixels.js";
import { Flow, withNumbers } from "./flow.js";
import { textWidth } from "./words.js";

const WIDTH = 1280; // px: width at which the picture is drawn, whatever the size of the screen
const MARGIN = 16; // px around the picture
const NOTE = { size: 13, line: 18 }; // px: font size of the notes below the picture, and the height of a line
const CENTRAL = "0.35em"; // from the middle of a line to its baseline: few programs know `dominant-baseline`
const GEOMETRY = [
  "x", "y", "width", "height", "rx", "d", "points", "cx", "cy", "r", "x1", "y1", "x2", "y2", "transform", "offset",
  "gradientUnits", "clip-path", "id",
];
// Style -> its value if an SVG does not set it. Styles of strokes are written only if there is a stroke.
const USUAL = { fill: "#000000", "fill-opacity": "1", opacity: "1", stroke: "none" };
const USUAL_STROKE = {
  "stroke-width": "1px", "stroke-opacity": "1", "stroke-dasharray": "none", "stroke-linecap": "butt",
  "stroke-linejoin": "miter", "paint-order": "normal",
};
const USUAL_TEXT = { "font-size": "", "font-weight": "400", "text-anchor": "start" };
const DASHES = "4 3"; // of the line below a marked word, because few programs know dashed text decorations

/**
 * @typedef {object} Still a picture to write
 * @property {Uint8Array} flow the data of the flow picture (pages/panels/flow_data.py), packed
 * @property {string | number | null} stop the last step of the keyframe to draw; the number of keyframes; null for all
 * @property {string[]} notes the lines below the picture
 * @property {string} title
 * @property {boolean} transparent whether the background is left out
 */

/**
 * Draws the flow picture inside an element, invisibly, and returns it as the text of an SVG file.
 * @param {Element} parent an element that has the style sheet of the picture
 * @param {Still} still
 * @returns {string}
 */
export function writeStill(parent, { flow: bytes, stop, notes, title, transparent }) {
  const host = element("div", "flow", { ariaHidden: "true", inert: true });
  host.style.cssText = `position: fixed; left: -${2 * WIDTH}px; top: 0; width: ${WIDTH}px`;
  parent.append(host);
  const flow = new Flow(host);
  flow.isPainted = true; // so that no other component takes it for the picture of the page
  const data = withNumbers(unpacked(bytes));
  flow.show(data);
  if (typeof stop === "number") flow.journey.scrub(stop);
  else flow.exchange.rest(stop);
  flow.drawNow();
  const drawn = plainCopy(flow.svg);
  flow.leave();
  const box = boxOf(flow);
  host.remove();
  return fileText(drawn, { box, notes, title, palette: data.palette, transparent });
}

// The rectangle that the drawn shapes fill, which may reach beyond the picture's own.
function boxOf({ svg, flowGroup }) {
  const { x, y, width, height } = flowGroup.getBBox();
  const [right, bottom] = [Math.max(Number(svg.getAttribute("width")), x + width), Math.max(0, y + height)];
  const [left, top] = [Math.min(0, x), Math.max(0, y)];
  return { left, top, width: right - left, height: bottom - top };
}

// Puts a drawn picture and its notes into one SVG with a margin, and returns its text.
function fileText(drawn, { box, notes, title, palette, transparent }) {
  const lines = notes.flatMap((note) => wrapped(note, box.width));
  const [width, height] = [box.width + 2 * MARGIN, box.height + 2 * MARGIN + lines.length * NOTE.line];
  const texts = lines.map((line, i) => svgShape("text", {
    x: MARGIN, y: box.height + MARGIN + (i + 1) * NOTE.line, "font-size": NOTE.size, fill: palette.x,
  }, line));
  const group = svgShape("g", { transform: `translate(${MARGIN - box.left},${MARGIN - box.top})` }, drawn);
  const size = { width: Math.round(width), height: Math.round(height) };
  const font = { "font-family": getComputedStyle(document.body).fontFamily };
  const svg = svgShape("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}`, ...font }, [
    svgShape("title", {}, title),
    ...(transparent ? [] : [svgShape("rect", { ...size, fill: palette.ground })]),
    group,
    ...texts,
  ]);
  return `${new XMLSerializer().serializeToString(svg)}\n`;
}

// Breaks a text at its spaces into lines of at most this width.
function wrapped(text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (lines.at(-1) && textWidth(longer, NOTE.size) > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

// Copies the visible children of an element, with their geometry and their styles as attributes.
function plainCopy(parent) {
  const copies = [];
  for (const shape of parent.children) {
    const style = getComputedStyle(shape);
    if (style.display === "none" || style.opacity === "0" || shape.tagName === "title") continue;
    const { tagName } = shape;
    const isGroup = ["g", "clipPath", "linearGradient"].includes(tagName);
    const children = isGroup ? plainCopy(shape) : [];
    if (isGroup && !children.length) continue;
    const attributes = attributesOf(shape, style);
    if (!isGroup && tagName !== "stop" && attributes.fill === "none" && !attributes.stroke && !isClip(shape)) continue;
    copies.push(svgShape(tagName, attributes, tagName === "text" ? shape.firstChild?.textContent ?? "" : children));
    if (style.textDecorationLine === "underline") copies.push(lineBelow(shape, style));
  }
  return copies;
}

// The line below a text as a shape of its own.
function lineBelow(text, style) {
  const { x, width } = text.getBBox();
  const y = Number(text.getAttribute("y")) + 0.6 * parseFloat(style.fontSize);
  const dashes = style.textDecorationStyle === "dashed" ? { "stroke-dasharray": DASHES } : {};
  return svgShape("path", {
    d: `M${x},${y}h${width}`, fill: "none", stroke: plainColour(style.fill).colour, "stroke-width": 2, ...dashes,
  });
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

// Adds the styles that are not as usual; a colour that is partly transparent becomes a colour and an opacity.
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

/**
 * Renders an SVG file of writeStill as a PNG. Its texts are drawn in the fonts of the page, which an SVG cannot load.
 * @param {string} text of the SVG file
 * @param {number} scale pixels of the PNG per pixel of the SVG
 * @returns {Promise<Blob>}
 */
export async function renderPng(text, scale) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const texts = [...svg.querySelectorAll("text")].map((each) => ({ ...placeOf(each), each }));
  texts.forEach(({ each }) => each.remove());
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const canvas = element("canvas", "", { width: image.naturalWidth * scale, height: image.naturalHeight * scale });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.scale(scale, scale);
  pen.drawImage(image, 0, 0);
  texts.forEach((place) => drawText(pen, place, svg.getAttribute("font-family")));
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
  });
}

// The position of a text in its file, and its opacity, from the groups around it.
function placeOf(text) {
  const place = { x: Number(text.getAttribute("x")), y: Number(text.getAttribute("y")), opacity: 1 };
  for (let part = text; part instanceof SVGElement; part = part.parentNode) {
    const [x = 0, y = 0] = (part.getAttribute("transform")?.match(/-?[\d.]+/g) ?? []).map(Number);
    place.x += x;
    place.y += y;
    place.opacity *= Number(part.getAttribute("opacity") ?? 1);
  }
  return place;
}

function drawText(pen, { each, x, y, opacity }, family) {
  const style = (name) => each.getAttribute(name);
  const size = parseFloat(style("font-size"));
  pen.font = `${style("font-weight") ?? 400} ${size}px ${family}`;
  pen.textAlign = { middle: "center", end: "right" }[style("text-anchor")] ?? "left";
  pen.globalAlpha = opacity * Number(style("fill-opacity") ?? 1);
  const baseline = y + (style("dy") ? parseFloat(style("dy")) * size : 0);
  if (style("stroke")) {
    Object.assign(pen, { strokeStyle: style("stroke"), lineJoin: "round" });
    pen.lineWidth = parseFloat(style("stroke-width") ?? "1");
    pen.strokeText(each.textContent, x, baseline);
  }
  pen.fillStyle = style("fill") ?? "#000000";
  pen.fillText(each.textContent, x, baseline);
}
