// The heads beside each other: a small map of each, its name, and what it does.
class Rail {
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    root.setAttribute("role", "group");
  }

  // heads: [{ name, habit }]; weightsOf: a head's shares, row by row.
  show(heads, queries, keys, weightsOf, colour) {
    this.root.hidden = heads.length < 2;
    this.buttons = heads.map(({ name, habit }, head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.onclick = () => this.choose(head);
      button.append(thumbnail(weightsOf(head), queries, keys, colour));
      const text = added(button, "span", "said");
      added(text, "strong", "").textContent = name;
      added(text, "span", "habit").textContent = habit;
      return button;
    });
    this.root.replaceChildren(...this.buttons);
  }

  mark(head) {
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === head)));
  }
}

// A map of one pixel a cell.
function thumbnail(weights, queries, keys, colour) {
  const canvas = Object.assign(document.createElement("canvas"), { width: keys, height: queries });
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour;
  for (let query = 0; query < queries; query++) {
    for (let key = 0; key < keys; key++) {
      pen.globalAlpha = clamp(0.08 + 0.92 * finite(weights[query * keys + key]));
      pen.fillRect(key, query, 1, 1);
    }
  }
  return canvas;
}
