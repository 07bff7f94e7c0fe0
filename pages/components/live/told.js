// Shows a text that follows sliders: a sentence, a table, or whether a goal is reached.
import { element, stateOf } from "../dom.js";
import { filled } from "../printed.js";
import { hear } from "../shared.js";
import { followSlider, positionHeld } from "./position.js";

/** @typedef {import("./position.js").Sliders} Sliders */

/**
 * @typedef {object} Told
 * @property {string[][]} texts the text of each position in pieces, of which every second one is bold
 * @property {"heading" | "line" | "caption" | "goal" | "table"} kind the kind of text; a table is in Markdown
 * @property {boolean[] | null} reached whether a goal is reached at each position
 * @property {string} waits the text while data are missing
 * @property {string[]} templates the texts during a drag of numbers: [goal not reached, goal reached]; may be empty
 */

/** @param {import("../shared.js").Component<Sliders & Told>} component */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".told");
  const view = stateOf(root, () => listenToMoved({ root }));
  view.data = data;
  followSlider(root, data, (position) => show(view, position));
}

function show({ root, data }, position) {
  const { texts, reached, waits } = data;
  tell(root, data.kind, texts[position] ?? [waits], Boolean(reached?.[position]));
}

function tell(root, kind, pieces, isReached) {
  const parts = pieces.map((piece, i) => (i % 2 ? element("strong", "", piece) : piece));
  const line = kind === "table" ? table(pieces.join("")) : element(kind === "heading" ? "h5" : "p", "", parts);
  root.classList.toggle("caption", kind === "caption");
  root.classList.toggle("goal", kind === "goal");
  root.classList.toggle("reached", isReached);
  root.replaceChildren(line);
}

// Listens to the event of dragged number fields, and shows the text for the dragged numbers.
// The event contains { values, isReached }, or null if all numbers are back at their start.
function listenToMoved(view) {
  const end = hear("numbers-moved", (moved) => {
    const { root, data } = view;
    if (!root.isConnected) end();
    else if (moved === null) show(view, positionHeld(data));
    else if (data.templates.length) tellMoved(root, data, moved);
  });
  return view;
}

function tellMoved(root, { kind, templates }, { values, isReached }) {
  const text = filled(templates[Number(isReached)], values);
  tell(root, kind, [text], isReached);
}

// Returns a <table> element for a Markdown table.
function table(markdown) {
  const [head, , ...rows] = markdown.split("\n").map((line) => line.split("|").slice(1, -1));
  return element("table", "", [element("thead", "", lines([head], "th")), element("tbody", "", lines(rows, "td"))]);
}

const lines = (rows, kind) =>
  rows.map((row) => element("tr", "", row.map((text) => element(kind, "", text.trim()))));
