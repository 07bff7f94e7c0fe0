// The sum of one cell, unfolded in the gap under its row; every operand leads to where it stands.
class SumPanel {
  // follow: opens a cell, { step, index }. close: folds the panel.
  constructor(root, { follow, close }) {
    this.root = root;
    this.follow = follow;
    this.close = close;
    root.hidden = true;
  }

  show(data) {
    this.data = data;
    const hadFocus = this.root.contains(this.root.getRootNode().activeElement);
    const title = document.createElement("div");
    title.className = "where";
    data.trail.forEach((place) => title.append(this.button(place, "back"), " › "));
    title.append(Object.assign(document.createElement("strong"), { textContent: data.title }));
    const fold = Object.assign(document.createElement("button"), { type: "button", className: "fold", textContent: "×", title: data.fold });
    fold.setAttribute("aria-label", data.fold);
    fold.onclick = () => this.close();
    const sum = document.createElement("div");
    sum.className = "sum";
    sum.append(...data.pieces.map((piece) => (piece.step === undefined ? piece.text : this.button(piece, `operand ${piece.family}`))));
    if (!data.pieces.length) sum.append(data.given);
    this.root.replaceChildren(title, sum, fold);
    if (hadFocus) (sum.querySelector("button") ?? fold).focus();
  }

  button(place, look) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: look, textContent: place.text, title: place.title });
    button.setAttribute("aria-label", `${place.text}: ${place.title}`);
    button.onclick = () => this.follow({ step: place.step, index: place.index });
    return button;
  }

  // How high the panel is at this width; a long sum scrolls.
  heightAt(width) {
    const { style } = this.root;
    [style.width, style.height, style.right] = [`${width}px`, "auto", "auto"];
    const height = Math.min(150, this.root.scrollHeight);
    [style.width, style.right] = ["", ""];
    return height;
  }

  place(top, height, left) {
    Object.assign(this.root.style, { top: `${top}px`, height: `${height}px`, left: `${left}px` });
  }
}
