// Every head's matrix small, a button each: the one that is looked at is outlined.
const SIDE = 80; // pixels: a small map's longer side, so that eight of them stand in a line

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".heads");
  const shown = unpacked(data);
  const focused = [...root.children].indexOf(root.getRootNode().activeElement);
  root.setAttribute("aria-label", shown.label);
  root.style.setProperty("--outline", shown.palette.outline);
  const [rows, columns] = shown.drawn;
  const heads = shown.titles.map((title, n) => {
    const head = document.createElement("button");
    head.type = "button";
    head.className = "head" + (n === shown.chosen ? " chosen" : "");
    head.setAttribute("aria-pressed", String(n === shown.chosen));
    const name = document.createElement("bdi");
    name.textContent = title;
    const cells = shown.cells.subarray(n * rows * columns, (n + 1) * rows * columns);
    head.append(name, small(cells, rows, columns, shown));
    head.onclick = () => setTriggerValue("opened", { head: n });
    return head;
  });
  if (shown.note) {
    const note = document.createElement("p");
    note.textContent = shown.note;
    heads.push(note);
  }
  root.replaceChildren(...heads);
  root.children[focused]?.focus();
}

// Drawn with whole pixels a cell, at least as large as it is shown.
function small(cells, rows, columns, { fills, palette }) {
  const ratio = window.devicePixelRatio || 1;
  const unit = Math.ceil((SIDE * ratio) / Math.max(rows, columns));
  const map = document.createElement("canvas");
  map.width = columns * unit;
  map.height = rows * unit;
  map.style.width = (SIDE * columns) / Math.max(rows, columns) + "px";
  const pen = map.getContext("2d");
  pen.fillStyle = palette.ground;
  pen.fillRect(0, 0, map.width, map.height);
  hatch(pen, 0, 0, map.width, map.height, 0, 0, unit * Math.ceil((6 * ratio) / unit), palette.ink);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(pixels(cells, rows, columns, fills), 0, 0, map.width, map.height);
  return map;
}
