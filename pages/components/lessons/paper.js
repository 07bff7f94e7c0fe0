// Shows a page of printed notes with the matrix of each stage of the calculation.
// A ring marks each number that the visitor found to be wrong.
import { button, element } from "../dom.js";
import { roving } from "../roving.js";

/**
 * @typedef {object} Paper printed notes
 * @property {string} title
 * @property {Stage[]} stages
 * @property {Record<string, string>} text
 * @property {string} ring the colour of the rings around wrong numbers
 */

/** @typedef {{ text: string, ringed: boolean, said: string }} Printed */
/** @typedef {{ name: string, title: string, isOpen: boolean, rows: Printed[][] }} Stage a matrix */

/** @param {import("../shared.js").Component<Paper>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".paper");
  root.style.setProperty("--ring", data.ring);
  root.ariaLabel = data.text.alt;
  roving(root, () =>
    root.replaceChildren(element("h5", "", data.title), ...data.stages.map((stage) => matrix(stage, setTriggerValue))),
  );
}

function matrix({ name, title, isOpen, rows }, trigger) {
  const figure = element("figure", isOpen ? "open" : "");
  const table = element("table", "");
  rows.forEach((row, i) => {
    const line = table.insertRow();
    row.forEach(({ text, ringed, said }, j) => {
      const number = button(
        ringed ? "ringed" : "", { textContent: text, ariaLabel: said, place: `${name} ${i} ${j}` },
        () =>
        trigger("pressed", [name, i, j]),
      );
      line.insertCell().append(number);
    });
  });
  figure.append(table, element("figcaption", "", title));
  return figure;
}
