// A list of words, each with a bar as long as its probability.

/** @typedef {{ rows: { word: string, share: number, said: string }[], colour: string }} Shares */

/** @param {import("../shared.js").Component<Shares>} component */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".shares");
  root.style.setProperty("--share", data.colour);
  const rows = data.rows.map(({ word, share, said }) => {
    const row = document.createElement("div");
    const parts = [word, "", said].map((text) => Object.assign(document.createElement("span"), { textContent: text }));
    parts[1].className = "beam";
    parts[1].style.width = 100 * share + "%";
    row.append(...parts);
    return row;
  });
  root.replaceChildren(...rows);
}
