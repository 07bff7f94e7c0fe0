// A sentence that follows a slider, or a goal. data: { of, position, kind, texts, reached }: for each position a text in
// pieces, of which every second is bold. kind: heading, line or goal. reached: of a goal, at which positions it is.
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".told");
  followSlider(root, data, (position) => {
    const { kind, texts, reached } = root.data;
    const line = document.createElement(kind === "heading" ? "h5" : "p");
    line.append(...texts[position].map((piece, i) => (i % 2 ? bold(piece) : piece)));
    root.classList.toggle("goal", kind === "goal");
    root.classList.toggle("reached", Boolean(reached?.[position]));
    root.replaceChildren(line);
  });
}

function bold(text) {
  return Object.assign(document.createElement("strong"), { textContent: text });
}
