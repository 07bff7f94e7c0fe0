// A sentence that follows sliders, or a goal. data: as of followSlider, and { kind, texts, reached, waits, templates }:
// for each position a text in pieces, of which every second is bold. kind: heading, line, caption, goal or table, in
// Markdown. reached: of a goal, at which positions it is. waits: the text where it waits. templates: where a hand moves
// numbers besides, what is said meanwhile, before and once a goal is reached.
import { hear } from "../shared.js";
import { followSlider, positionHeld } from "./position.js";

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".told");
  followSlider(root, data, (position) => {
    const { texts, reached, waits } = root.data;
    tell(root, texts[position] ?? [waits], Boolean(reached?.[position]));
  });
  root.hearMoved ??= listenToMoved(root);
}

function tell(root, pieces, isReached) {
  const { kind } = root.data;
  const line = kind === "table" ? table(pieces.join("")) : document.createElement(kind === "heading" ? "h5" : "p");
  if (kind !== "table") line.append(...pieces.map((piece, i) => (i % 2 ? bold(piece) : piece)));
  root.classList.toggle("caption", kind === "caption");
  root.classList.toggle("goal", kind === "goal");
  root.classList.toggle("reached", isReached);
  root.replaceChildren(line);
}

// What a hand has moved: { values, isReached }, null where it is as it was.
function listenToMoved(root) {
  const end = hear("numbers-moved", (moved) => {
    if (!root.isConnected) end();
    else if (moved === null) root.show(positionHeld(root.data));
    else if (root.data.templates.length) tellMoved(root, moved);
  });
  return end;
}

function tellMoved(root, { values, isReached }) {
  const template = root.data.templates[Number(isReached)];
  tell(root, [template.replace(/\{(\w+)\}/g, (_, name) => values[name])], isReached);
}

function bold(text) {
  return Object.assign(document.createElement("strong"), { textContent: text });
}

// A table of Markdown: its head, a line that is not shown, its rows.
function table(markdown) {
  const element = document.createElement("table");
  const [head, , ...rows] = markdown.split("\n").map((line) => line.split("|").slice(1, -1));
  fill(element.createTHead(), [head], "th");
  fill(element.createTBody(), rows, "td");
  return element;
}

function fill(part, rows, kind) {
  for (const row of rows)
    part
      .insertRow()
      .append(...row.map((text) => Object.assign(document.createElement(kind), { textContent: text.trim() })));
}
