// Shows the goals that a visitor can reach by dragging vectors, such as bounds of attention weights.
// During a drag, the browser checks the goals by its own weights; otherwise the server says which are reached.
import { added, write } from "../dom.js";
import { spellPercent } from "./words.js";

export class PlaneGoals {
  constructor(root) {
    this.root = root;
    this.lines = [];
    root.setAttribute("role", "status");
  }

  show(view) {
    const { goals } = view.data.plane;
    const asked = goals.filter(({ query, head }) => query === view.look.query && head === view.look.head);
    this.root.hidden = !asked.length;
    while (this.lines.length < asked.length) this.lines.push(added(this.root, "p", "goal"));
    this.lines.forEach((line, i) => (line.hidden = i >= asked.length));
    asked.forEach((goal, i) => {
      const isReached = view.flow.isDragged ? reaches(goal, view) : goal.reached;
      const shares = goal.bounds.map(({ key }) => spellPercent(view.shares[key])).join(", ");
      write(this.lines[i], [
        [isReached ? "✓" : "○", "mark"], [` ${goal.text} `, ""], [shares, "share"],
        [isReached ? ` ${view.text.reached}` : "", "done"],
      ]);
      this.lines[i].classList.toggle("reached", isReached);
    });
  }
}

function reaches({ bounds, kept }, { shares, vectors, look }) {
  const query = vectors.vector("q", look.query);
  const isKept = !kept || kept.every((number, m) => Math.abs(number - query[m]) < 1e-9);
  return isKept && bounds.every(({ key, least, most }) => shares[key] >= least && shares[key] <= most);
}
