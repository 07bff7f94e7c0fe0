// Shows a list of words, each with a bar as long as its probability.
import { element } from "../dom.js";

/** @typedef {{ rows: { word: string, share: number, said: string }[], colour: string }} Shares */

/** @param {import("../shared.js").Component<Shares>} component */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".shares");
  root.style.setProperty("--share", data.colour);
  const rows = data.rows.map(({ word, share, said }) =>
    element("div", "", [
      element("span", "", word), element("span", "beam", { style: `width: ${100 * share}%` }),
      element("span", "", said),
    ]),
  );
  root.replaceChildren(...rows);
}
