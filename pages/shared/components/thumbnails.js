// Small maps in a row, a button each: the one that is looked at is outlined, a click opens another.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".thumbnails");
  root.trigger = setTriggerValue;
  if (root.given?.length === data.length && root.given.every((byte, i) => byte === data[i])) return; // drawn already
  root.given = data.slice();
  const shown = unpacked(data);
  root.setAttribute("aria-label", shown.label);
  root.style.setProperty("--outline", shown.palette.outline);
  root.style.setProperty("--side", shown.side + "px");
  root.style.setProperty("--lines", shown.lines); // of a name, also where it has fewer: nothing jumps
  let from = 0;
  const parts = shown.maps.flatMap(({ opens, name, title, map: drawn, scale, chosen, breaks }) => {
    const each = document.createElement("button");
    each.type = "button";
    each.className = chosen ? "chosen" : "";
    each.title = title;
    each.setAttribute("aria-pressed", String(chosen));
    const written = document.createElement("bdi");
    written.textContent = name;
    const cells = shown.cells.subarray(from, (from += drawn[0] * drawn[1]));
    each.append(small(cells, ...drawn, shown.fills[scale], shown), written);
    each.onclick = () => root.trigger("opened", opens);
    return breaks ? [document.createElement("hr"), each] : [each];
  });
  if (shown.note) {
    const note = document.createElement("p");
    note.textContent = shown.note;
    parts.push(note);
  }
  roving(root, () => root.replaceChildren(...parts));
}

// Drawn with whole pixels a cell, at least as large as it is shown.
function small(cells, rows, columns, fills, { side, palette }) {
  const ratio = window.devicePixelRatio || 1;
  const unit = Math.ceil((side * ratio) / Math.max(rows, columns));
  const map = document.createElement("canvas");
  map.width = columns * unit;
  map.height = rows * unit;
  map.style.width = (side * columns) / Math.max(rows, columns) + "px";
  const pen = map.getContext("2d");
  pen.fillStyle = palette.ground;
  pen.fillRect(0, 0, map.width, map.height);
  if (cells.includes(BLOCKED)) {
    hatch(pen, 0, 0, map.width, map.height, 0, 0, unit * Math.ceil((6 * ratio) / unit), palette.ink);
  }
  pen.imageSmoothingEnabled = false;
  pen.drawImage(pixels(cells, rows, columns, fills), 0, 0, map.width, map.height);
  return map;
}
