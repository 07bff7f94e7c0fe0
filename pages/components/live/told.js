// A sentence that follows sliders, or a goal. data: as of followSlider, and { kind, texts, reached, waits }: for each
// position a text in pieces, of which every second is bold. kind: heading, line, caption or goal. reached: of a goal, at
// which positions it is. waits: the text where it waits.
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".told");
  followSlider(root, data, (position) => {
    const { kind, texts, reached, waits } = root.data;
    const line = document.createElement(kind === "heading" ? "h5" : "p");
    line.append(...(texts[position] ?? [waits]).map((piece, i) => (i % 2 ? bold(piece) : piece)));
    root.classList.toggle("caption", kind === "caption");
    root.classList.toggle("goal", kind === "goal");
    root.classList.toggle("reached", Boolean(reached?.[position]));
    root.replaceChildren(line);
  });
}

function bold(text) {
  return Object.assign(document.createElement("strong"), { textContent: text });
}
