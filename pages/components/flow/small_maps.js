// Shows a row of small maps (matrices, one pixel per cell), one for each head or for each step; one map is selected.
import { button, element, setOnce, write } from "../dom.js";
import { paintMap } from "./map_cells.js";
import { clamp } from "./motion.js";
import { isAlike, withIndices } from "./words.js";

export class SmallMaps {
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    this.painted = new WeakMap(); // canvas -> { value, first, image }: the numbers that it shows, and its image
    this.note = element("span", "note"); // text at the end of the row, about dashed frames
    root.setAttribute("role", "group");
  }

  // Shows maps: [{ key, matrix, said, title, waits, group }]. matrix: a result of Model.matrix.
  // said: the label of a map, as texts and their classes for `write`. title: the tooltip.
  // waits: whether the numbers of a map are computed only after a drag ends.
  // group: the title above a group of maps, or undefined.
  show(maps, palette) {
    const said = maps.map(({ key, said, title, group }) => ({ key, said, title, group }));
    if (!isAlike(said, this.said)) this.make(maps);
    this.said = said;
    this.paint(maps, palette);
  }

  make(maps) {
    this.keys = maps.map(({ key }) => String(key));
    this.buttons = maps.map(({ key, said, title = "" }) => {
      const texts = element("span", "said");
      write(texts, said);
      const made = button("", { title }, () => this.choose(key), [element("canvas"), texts]);
      made.dataset.key = key;
      return made;
    });
    this.root.replaceChildren(...this.inGroups(maps));
  }

  // Returns the buttons; if maps have groups, an element for each group with its title and buttons.
  inGroups(maps) {
    if (!maps[0].group) return this.buttons;
    return [...Map.groupBy(this.buttons, (_, i) => maps[i].group)].map(([name, buttons]) =>
      element("div", "group", { role: "group", ariaLabel: name }, [
        element("span", "layer", name), element("div", "maps", buttons),
      ]),
    );
  }

  // Paints each small map whose numbers have changed since it was painted last.
  paint(maps, palette) {
    maps.forEach(({ matrix, waits }, i) => {
      const canvas = this.buttons[i].firstChild;
      this.buttons[i].classList.toggle("waits", Boolean(waits));
      const { value, first } = matrix;
      const before = this.painted.get(canvas);
      if (waits || (value && before?.value === value && before.first === first)) return;
      this.painted.set(canvas, { value, first, image: paintMap(canvas, matrix, palette, before?.image) });
    });
  }

  // Returns the boxes of the small maps, relative to the corner of `element`: [{ x, y, width, height, isSeen }].
  // A map scrolled out of sight gets a box of height 0 at the row's end, on the top edge of `element`.
  // Returns null if the row of maps is hidden. group: the key of the group to return; all maps if missing.
  boxesFrom(element, group) {
    const [row, corner] = [this.root.getBoundingClientRect(), element.getBoundingClientRect()];
    if (!row.width) return null;
    return this.buttonsOf(group).map((button) => {
      const { x, y, width, height } = button.firstChild.getBoundingClientRect();
      const isSeen = x >= row.left && x + width <= row.right && y >= row.top && y + height <= row.bottom;
      const at = { x: clamp(x, row.left, row.right - width) - corner.x, width, isSeen };
      return isSeen ? { ...at, y: y - corner.y, height } : { ...at, y: 0, height: 0 };
    });
  }

  buttonsOf(group) {
    return group ? this.buttons.filter((_, i) => this.keys[i].startsWith(`${group}.`)) : this.buttons;
  }

  // Says at the end of the row what the dashed frames of the maps in `read` mean.
  tellRead(note) {
    if (this.note.parentNode !== this.root) this.root.append(this.note);
    write(this.note, withIndices(note));
  }

  // Marks the selected small map, and the maps in `read`, from which the selected map is computed.
  // said: the tooltip of the maps in `read`. note: the meaning of their dashed frames, shown at the end of the row.
  mark(chosen, read = [], said = "", note = "") {
    this.buttons.forEach((button, i) => {
      const key = this.keys[i];
      const isRead = read.includes(key);
      setOnce(button, "aria-pressed", String(key === String(chosen)));
      button.classList.toggle("read", isRead);
      if (said) button.title = isRead ? `${key}: ${said}` : key;
    });
    if (note) this.tellRead(read.some((key) => this.keys.includes(key)) ? note : "");
  }
}
