// Small maps in a row, a button each: the one that is looked at is outlined, a click opens another.
import { isDrawn, setColours, stateOf } from "./dom.js";
import { pixels, unpacked } from "./pixels.js";
import { roving } from "./roving.js";

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
  root.style.setProperty("--lines", shown.lines); // of a name, also where it has fewer: nothing jumps
  const before = view.images ?? new Map(); // most changes leave most of the maps as they are
  view.images = new Map();
  let from = 0;
  const parts = shown.maps.flatMap(({ opens, name, title, map: [rows, columns], scale, chosen, breaks }) => {
    const each = document.createElement("button");
    each.type = "button";
    each.className = chosen ? "chosen" : "";
    each.title = title;
    each.setAttribute("aria-pressed", String(chosen));
    const written = document.createElement("bdi");
    written.textContent = name;
    const cells = shown.cells.subarray(from, (from += rows * columns));
    const content = [rows, columns, scale, shown.palette.ground, new TextDecoder("latin1").decode(cells)].join();
    const image = before.get(content) ?? pixels(cells, rows, columns, shown.fills[scale]).toDataURL();
    view.images.set(content, image);
    each.append(small(image, rows, columns, shown.side), written);
    each.onclick = () => view.trigger("opened", opens);
    return breaks ? [document.createElement("hr"), each] : [each];
  });
  if (shown.note) {
    const note = document.createElement("p");
    note.textContent = shown.note;
    parts.push(note);
  }
  roving(root, () => root.replaceChildren(...parts));
}

// One pixel a cell, enlarged by the browser; an image, because each canvas on a page is a layer that every frame pays
// for.
function small(image, rows, columns, side) {
  const map = document.createElement("img");
  map.alt = "";
  map.draggable = false;
  map.decoding = "sync"; // never a frame without it
  map.style.width = (side * columns) / Math.max(rows, columns) + "px";
  map.style.height = (side * rows) / Math.max(rows, columns) + "px";
  map.src = image;
  return map;
}
