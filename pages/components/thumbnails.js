// Draws a row of small maps as buttons: the selected map is outlined, and a click on another one opens it.
import { button, element, isDrawn, setColours, stateOf } from "./dom.js";
import { pixels, unpacked } from "./pixels.js";
import { roving } from "./roving.js";

/** @param {import("./shared.js").Component<Uint8Array>} component data: packed */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".thumbnails");
  const view = stateOf(root);
  view.trigger = setTriggerValue;
  if (isDrawn(root, data)) return;
  const shown = unpacked(data);
  root.setAttribute("aria-label", shown.label);
  setColours(root, shown.palette, ["outline", "ground", "ink"]);
  root.style.setProperty("--side", shown.side + "px");
  root.style.setProperty("--text", shown.text + "px");
  root.style.setProperty("--lines", shown.lines); // lines reserved for each name, so that the layout does not jump
  const before = view.images ?? new Map(); // content of a map -> its image, kept because most maps stay the same
  view.images = new Map();
  let from = 0;
  const parts = shown.maps.flatMap(({ opens, name, title, map: [rows, columns], scale, chosen, breaks }) => {
    const cells = shown.cells.subarray(from, (from += rows * columns));
    const content = [rows, columns, scale, shown.palette.ground, new TextDecoder("latin1").decode(cells)].join();
    const image = before.get(content) ?? pixels(cells, rows, columns, shown.fills[scale]).toDataURL();
    view.images.set(content, image);
    const look = { title, ariaPressed: String(chosen) };
    const each = button(chosen ? "chosen" : "", look, () => view.trigger("opened", opens), [
      small(image, rows, columns, shown.side), element("bdi", "", name),
    ]);
    return breaks ? [element("hr"), each] : [each];
  });
  if (shown.note) parts.push(element("p", "", shown.note));
  roving(root, () => root.replaceChildren(...parts));
}

// Returns an <img> with one pixel per cell, enlarged by the browser.
// The map is not a canvas, because each canvas is a layer that slows every frame of the page.
function small(src, rows, columns, side) {
  const [width, height] = [columns, rows].map((length) => (side * length) / Math.max(rows, columns));
  return element("img", "", {
    alt: "", draggable: false, src, style: `width: ${width}px; height: ${height}px`,
    decoding: "sync", // the map is decoded before the next frame, so that it does not flicker
  });
}
