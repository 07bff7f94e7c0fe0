// Shows select boxes for the two axes of each panel, if vectors have more than two components.
// Notes beside the select boxes say what the projection leaves out.
import { added, element, selectOf, setOnce, write } from "../dom.js";
import { dotProduct, productOutside, shareOutside } from "./plane_axes.js";
import { fill, spellNumber, spellPercent } from "./words.js";

export class PlaneControls {
  constructor(root, choose) {
    this.root = root;
    this.boxes = new Map(
      ["k", "v"].map((panel) => [
        panel,
        new PanelAxes(added(root, "div", "panelaxes"), (axis, value) => choose(panel, axis, value)),
      ]),
    );
  }

  show(view) {
    for (const [panel, box] of this.boxes) {
      box.root.hidden = view.vectors.width(panel) <= 2;
      if (!box.root.hidden) box.show(this.options(view, panel), view.axes[panel], view.text, this.leftOut(view, panel));
    }
    this.root.hidden = [...this.boxes.values()].every((box) => box.root.hidden);
  }

  options(view, panel) {
    const width = view.vectors.width(panel);
    const names = view.model.names(view.data.steps[panel].dims.at(-1), width);
    const vectors = view.model.keys.map((word, place) => [`${panel}${place}`, `${panel} ${word}`]);
    const query = panel === "k" ? [["q", `q ${view.flow.asking}`]] : [];
    return [...query, ...vectors, ...names.map((name, m) => [String(m), name])];
  }

  leftOut(view, panel) {
    const plane = view.planes[panel];
    if (panel === "v")
      return fill(view.text.left_out_value, { share: [spellPercent(shareOutside(view.output, plane)), "share"] });
    const q = view.vectors.vector("q", view.look.query);
    const key = view.vectors.vector("k", view.best);
    const said = fill(view.text.left_out_query, { share: [spellPercent(shareOutside(q, plane)), "share"] });
    if (!view.data.plane.is_product) return said;
    return [...said, [" ", ""], ...fill(view.text.left_out_score, {
      key: [view.model.keys[view.best], "k"],
      rest: [spellNumber(productOutside(q, key, plane)), "share"],
      score: [spellNumber(dotProduct(q, key)), ""],
    })];
  }
}

class PanelAxes {
  constructor(root, choose) {
    this.root = root;
    this.selects = ["→", "↑"].map((sign, axis) => {
      const select = selectOf([], { onchange: () => choose(axis, select.value) });
      root.append(element("label", "", [element("span", "", sign), select]));
      return select;
    });
    this.left = added(root, "p", "leftout");
  }

  show(options, axes, text, leftOut) {
    const shown = JSON.stringify(options);
    if (this.shown !== shown) {
      for (const select of this.selects)
        select.replaceChildren(...options.map(([value, name]) => new Option(name, value)));
      this.shown = shown;
    }
    this.selects.forEach((select, axis) => {
      if (select.value !== axes[axis]) select.value = axes[axis];
      setOnce(select, "aria-label", axis ? text.up : text.across);
    });
    write(this.left, leftOut);
  }
}
