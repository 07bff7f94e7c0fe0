// The sum of one cell, unfolded in the gap under its row; every operand leads to where it stands.
class SumPanel {
  // follow: opens a cell, { step, index }. close: folds the panel. point: shows which operand is pointed at.
  constructor(root, { follow, close, point }) {
    Object.assign(this, { root, follow, close, point });
    this.operands = []; // { step, index }
    this.pointed = null; // one of them
    root.hidden = true;
  }

  // The same sum stays as it is: a hand may be about to press one of its operands.
  show(data) {
    if (this.shown === JSON.stringify(data)) return;
    this.shown = JSON.stringify(data);
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
    this.operands = data.pieces.filter((piece) => piece.step !== undefined);
    this.pointed = null;
    if (hadFocus) (sum.querySelector("button") ?? fold).focus();
  }

  button(place, look) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: look, textContent: place.text, title: place.title });
    button.setAttribute("aria-label", `${place.text}: ${place.title}`);
    button.place = place;
    button.onclick = () => this.follow({ step: place.step, index: place.index });
    button.onpointerenter = button.onfocus = () => this.pointAt(place);
    button.onpointerleave = button.onblur = () => this.pointAt(null);
    return button;
  }

  // A cell that is pointed at, here or in the picture: its chips are lit, and its ring.
  pointAt(place) {
    this.pointed = place;
    for (const chip of this.root.querySelectorAll(".operand")) chip.classList.toggle("pointed", place !== null && isSamePlace(chip.place, place));
    this.point();
  }

  isPointed(cell) {
    return this.pointed !== null && isSamePlace(this.pointed, cell);
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
