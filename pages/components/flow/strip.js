// The steps of the run as small maps in a row: one of them is seen whole in the map.
class StepStrip {
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    root.setAttribute("role", "group");
  }

  // steps: [{ name, label, moved, matrix }], matrix as Model.matrix gives it. moved: whether the last change moved it.
  show(label, steps, palette) {
    this.root.setAttribute("aria-label", label);
    this.steps = steps;
    this.buttons = steps.map(({ name, label, moved, matrix }) => {
      const button = Object.assign(document.createElement("button"), { type: "button", title: name });
      button.dataset.step = name;
      button.onclick = () => this.choose(name);
      button.append(thumbnail(matrix, palette));
      added(button, "span", "said").textContent = moved ? `${label} Δ` : label;
      return button;
    });
    this.root.replaceChildren(...this.buttons);
  }

  // read: the steps that the chosen one is made of.
  mark(chosen, read) {
    this.buttons.forEach((button) => {
      setOnce(button, "aria-pressed", String(button.dataset.step === chosen));
      button.classList.toggle("read", read.includes(button.dataset.step));
    });
  }
}

// A matrix of one pixel a cell.
function thumbnail(matrix, palette) {
  const { rows, columns, kind, largest } = matrix;
  const canvas = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
  const pen = canvas.getContext("2d");
  for (let row = 0; row < rows; row++) {
    const numbers = matrix.row(row);
    for (let column = 0; column < columns; column++) {
      const number = finite(numbers[column]);
      pen.fillStyle = kind === "share" ? palette.share : kind === "mark" ? palette.x : number < 0 ? palette.minus : palette.plus;
      pen.globalAlpha = clamp(0.08 + (0.92 * Math.abs(number)) / (largest || 1));
      if (!matrix.isBlocked(row, column)) pen.fillRect(column, row, 1, 1);
    }
  }
  return canvas;
}
