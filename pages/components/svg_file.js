// Writes a drawn picture as the text of an SVG file, and renders such a file as a PNG.
import { button, element, svgShape } from "./dom.js";
import { textWidth } from "./flow/words.js";

const MARGIN = 16; // px around the picture
const NOTE = { size: 13, line: 18 }; // px: font size of the notes below the picture, and the height of a line
const PNG_SCALE = 2; // pixels of the PNG per pixel of the picture

/**
 * Returns the buttons that save a picture as SVG and as PNG.
 * @param {{ names: { svg: string, png: string }, file: string }} files names: the texts of the buttons; file: the name
 *   of the file without its ending
 * @param {() => string} write returns the text of the SVG file
 */
export function saveButtons({ names, file }, write) {
  const save = {
    svg: async () => new Blob([write()], { type: "image/svg+xml" }),
    png: () => renderPng(write(), PNG_SCALE),
  };
  return Object.entries(save).map(([kind, make]) =>
    button(kind, { textContent: names[kind] }, async () => download(await make(), `${file}.${kind}`)),
  );
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads the file after the click
}

/**
 * Puts a drawn picture, and the shapes and notes below it, into one SVG with a margin, and returns its text.
 * @param {SVGElement[]} drawn
 * @param {{ box: { left: number, top: number, width: number, height: number },
 *   below?: { drawn: SVGElement[], height: number }, notes: string[], title: string,
 *   palette: Record<string, string>, transparent: boolean }} file box: the rectangle that the picture fills; below:
 *   shapes under it; notes: the lines under these; transparent: whether the background is left out
 * @returns {string}
 */
export function svgText(drawn, { box, below = { drawn: [], height: 0 }, notes, title, palette, transparent }) {
  const lines = notes.flatMap((note) => wrapped(note, box.width));
  const end = MARGIN + box.height + below.height;
  const [width, height] = [box.width + 2 * MARGIN, end + lines.length * NOTE.line + MARGIN];
  const texts = lines.map((line, i) => svgShape("text", {
    x: MARGIN, y: end + (i + 1) * NOTE.line, "font-size": NOTE.size, fill: palette.x,
  }, line));
  const group = svgShape("g", { transform: `translate(${MARGIN - box.left},${MARGIN - box.top})` }, drawn);
  const under = svgShape("g", { transform: `translate(${MARGIN},${MARGIN + box.height})` }, below.drawn);
  const size = { width: Math.round(width), height: Math.round(height) };
  const font = { "font-family": getComputedStyle(document.body).fontFamily };
  const svg = svgShape("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}`, ...font }, [
    svgShape("title", {}, title),
    ...(transparent ? [] : [svgShape("rect", { ...size, fill: palette.ground })]),
    group,
    ...(below.height ? [under] : []),
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

/**
 * Renders the text of an SVG file as a PNG. Its texts are drawn in the fonts of the page, which an SVG cannot load.
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
  texts.forEach((place) => drawText(pen, { ...place, scale }, svg.getAttribute("font-family")));
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
  });
}

// Returns the transformation of the groups around a text in its file, and the text's opacity.
function placeOf(text) {
  const place = { matrix: new DOMMatrix(), opacity: 1 };
  for (let part = text; part instanceof SVGGraphicsElement; part = part.parentNode) {
    const own = part.transform.baseVal.consolidate()?.matrix;
    if (own) place.matrix = DOMMatrix.fromMatrix(own).multiply(place.matrix);
    place.opacity *= Number(part.getAttribute("opacity") ?? 1);
  }
  return place;
}

function drawText(pen, { each, matrix, opacity, scale }, family) {
  const style = (name) => each.getAttribute(name);
  const size = parseFloat(style("font-size"));
  const x = Number(style("x"));
  pen.setTransform(new DOMMatrix().scale(scale).multiply(matrix));
  pen.font = `${style("font-weight") ?? 400} ${size}px ${family}`;
  pen.textAlign = { middle: "center", end: "right" }[style("text-anchor")] ?? "left";
  pen.globalAlpha = opacity * Number(style("fill-opacity") ?? 1);
  const baseline = Number(style("y")) + (style("dy") ? parseFloat(style("dy")) * size : 0);
  if (style("stroke")) {
    Object.assign(pen, { strokeStyle: style("stroke"), lineJoin: "round" });
    pen.lineWidth = parseFloat(style("stroke-width") ?? "1");
    pen.strokeText(each.textContent, x, baseline);
  }
  pen.fillStyle = style("fill") ?? "#000000";
  pen.fillText(each.textContent, x, baseline);
}
