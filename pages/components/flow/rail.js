// The heads beside each other: a small map of each, its name, and what it does.
class Rail {
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    root.setAttribute("role", "group");
  }

  // heads: [{ name, habit }]; matrixOf: a head's shares, as Model.matrix gives them.
  show(heads, matrixOf, palette) {
    this.root.hidden = heads.length < 2;
    this.buttons = heads.map(({ name, habit }, head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.onclick = () => this.choose(head);
      button.append(thumbnail(matrixOf(head), palette));
      const text = added(button, "span", "said");
      added(text, "strong", "").textContent = name;
      added(text, "span", "habit").textContent = habit;
      return button;
    });
    this.root.replaceChildren(...this.buttons);
  }

  mark(head) {
    this.buttons.forEach((button, i) => setOnce(button, "aria-pressed", String(i === head)));
  }
}
