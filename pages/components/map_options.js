// Shows the options of attention maps: without the first key, only large weights, multiples of the even share, mean.
// The server computes the maps; this control only sends the chosen options.
import { added, button, element, keepFocus, selectOf } from "./dom.js";
import { Choice } from "./flow/choice.js";
import { isAlike, said, spellWholePercent } from "./flow/words.js";

/**
 * @typedef {object} Reading the fields of MapReading of attention_core/analysis/map_reading.py
 * @property {boolean} without_first
 * @property {number | null} least
 * @property {number | null} largest
 * @property {boolean} times
 * @property {number[]} mean
 */

/**
 * @typedef {object} Options
 * @property {Reading} chosen
 * @property {string} side the side of a comparison that is shown; "" without a comparison
 * @property {string[]} sides
 * @property {string | null} first
 * @property {number[]} leasts
 * @property {number[]} largest
 * @property {any} text
 */

export class MapOptions {
  /**
   * @param {HTMLElement} root
   * @param {(reading: Reading) => void} send sends a reading to the server
   * @param {() => number} now the index of the head with which a mean begins
   * @param {{ changed?: () => void, sendSide?: (side: string) => void }} [more] changed is called when the options are
   *   folded or unfolded; sendSide sends the chosen side of a comparison
   */
  constructor(root, send, now, { changed = () => {}, sendSide = (_) => {} } = {}) {
    this.root = root;
    this.send = send;
    this.now = now;
    root.classList.add("mapoptions");
    this.fold = button("fold", { place: "options" }, () => {
      this.open(!this.isOpen);
      changed();
    });
    this.row = element("div", "choices");
    this.sides = new Choice(element("div", "sides"), sendSide);
    root.append(this.sides.root, this.fold, this.row);
    this.isOpen = false;
    /** @type {any} the shown Options */
    this.options = null;
  }

  /** @param {Options | undefined} options undefined if these maps have no options */
  show(options) {
    this.root.hidden = !options;
    if (!options || isAlike(options, this.options)) return;
    this.options = options;
    this.fold.textContent = options.text.options;
    this.sides.root.hidden = !options.side;
    this.sides.root.setAttribute("aria-label", options.text.sides);
    this.sides.show(options.text, options.sides);
    this.sides.mark(options.side);
    this.row.setAttribute("role", "group");
    this.row.setAttribute("aria-label", options.text.label);
    this.fill();
    if (Object.values(options.chosen).some((value) => (Array.isArray(value) ? value.length : value))) this.open(true);
    else this.open(this.isOpen);
  }

  /** The height of the options in px; 0 while they are folded, because the button then stands beside other text. */
  get height() {
    return this.isOpen ? this.root.offsetHeight : 0;
  }

  open(isOpen) {
    this.isOpen = isOpen;
    this.root.classList.toggle("open", isOpen);
    this.row.hidden = !isOpen;
    this.fold.setAttribute("aria-expanded", String(isOpen));
  }

  fill() {
    const { chosen: reading, first, leasts, largest, text } = this.options;
    const focusAgain = keepFocus(this.row);
    this.row.replaceChildren();
    if (first !== null)
      this.check("without_first", said(text.without_first, { word: first }), reading.without_first, (is) => is);
    const kept = reading.largest ? `largest ${reading.largest}` : reading.least ? `least ${reading.least}` : "";
    const leastOf = (share) => [`least ${share}`, said(text.least, { percent: spellWholePercent(share) })];
    const largestOf = (count) => [
      `largest ${count}`, count === 1 ? text.largest_one : said(text.largest, { count: String(count) }),
    ];
    const options = [["", text.all], ...leasts.map(leastOf), ...largest.map(largestOf)];
    if (!options.some(([value]) => value === kept))
      options.push(reading.largest ? largestOf(reading.largest) : leastOf(reading.least));
    const select = selectOf(options, { value: kept, ariaLabel: text.weights });
    select.dataset.place = "weights";
    select.onchange = () => {
      const [name, number] = select.value.split(" ");
      this.choose({ least: null, largest: null, ...(name ? { [name]: Number(number) } : {}) });
    };
    this.row.append(select);
    this.check("times", text.times, reading.times, (is) => is);
    this.check("mean", text.mean, reading.mean.length > 0, (is) => (is ? [this.now()] : []));
    focusAgain();
  }

  check(name, label, checked, valueOf) {
    const box = element("input", "", { type: "checkbox", checked, place: name });
    box.onchange = () => this.choose({ [name]: valueOf(box.checked) });
    added(this.row, "label", "", [box, label]);
  }

  /** Changes values of the chosen options. @param {Partial<Reading>} values */
  choose(values) {
    const chosen = { ...this.options.chosen, ...values };
    this.options = { ...this.options, chosen };
    this.fill();
    this.send(chosen);
  }

  /** Adds a head to the mean, or takes it out, unless it is the last. @param {number} head its index */
  toggle(head) {
    const { mean } = this.options.chosen;
    const others = mean.filter((each) => each !== head);
    const isIn = others.length < mean.length;
    if (!isIn || others.length) this.choose({ mean: isIn ? others : [...mean, head].sort((a, b) => a - b) });
  }
}
