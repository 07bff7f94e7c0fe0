// Handles input on the flow picture by mouse, touch and keyboard.
import { focused } from "../dom.js";
import { FlowKeys } from "./flow_keys.js";
import { MapKeys } from "./map_keys.js";
import { meaningOf } from "./shapes.js";

const LONG_PRESS_MS = 350; // ms: a longer touch hides all connecting lines except those of the touched word
const PRESSED_STAYS_MS = 1500; // ms after such a touch for which the lines of the other words stay hidden

export class Hands {
  constructor(flow) {
    this.flow = flow;
    this.row = this.cell = null; // the hovered row of a key in the flow picture; the hovered cell of the map
    this.isHeld = false; // whether the current touch is a long press, which opens neither arithmetic nor map
    this.mapKeys = new MapKeys(flow, this);
    this.flowKeys = new FlowKeys(flow, this);
    this.listenToPointer();
    this.listenToTouch();
    Object.assign(flow.stage, { tabIndex: 0, role: "group" });
    flow.stage.addEventListener("keydown", (event) => this.key(event));
    flow.root.addEventListener("keydown", (event) => event.key === "Escape" && flow.open && this.fold());
  }

  listenToPointer() {
    const { svg } = this.flow;
    svg.addEventListener("click", (event) => this.press(this.meant(event)));
    for (const name of ["pointerover", "pointermove"]) {
      svg.addEventListener(name, (event) => {
        const isNew = name === "pointerover" || typeof meaningOf(event.target) === "function";
        if (isNew && event.pointerType !== "touch") this.hover(this.meant(event));
      });
    }
    svg.addEventListener("pointerleave", () => this.hover(null));
  }

  listenToTouch() {
    const { svg } = this.flow;
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch") return;
      const means = this.meant(event);
      this.isHeld = false;
      this.holding = setTimeout(() => {
        this.isHeld = true;
        this.hover(means);
      }, LONG_PRESS_MS);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      svg.addEventListener(name, () => {
        clearTimeout(this.holding);
        if (this.isHeld) setTimeout(() => this.hover(null), PRESSED_STAYS_MS);
      });
    }
  }

  // Returns what the shape under a pointer represents (its `means`).
  // If the shape is a whole strip of cells, the pointer's x determines which cell it is.
  meant({ target, clientX, clientY }) {
    const means = meaningOf(target);
    if (typeof means !== "function") return means;
    return means(new DOMPoint(clientX, clientY).matrixTransform(this.flow.svg.getScreenCTM().inverse()).x);
  }

  hover(means) {
    // a number of the query, which is in no key's row
    const isLane = this.flow.model.parts.get(means?.part)?.role === "lane";
    const row = means?.word ?? (isLane ? null : means?.row) ?? means?.ribbon ?? null;
    const cell = means?.at ?? null;
    if (this.flow.ringed().length)
      this.flow.sum.pointAt(means?.part !== undefined || means?.cell ? this.flow.placeOfCell(means) : null);
    if (row === this.row && isSameCell(cell, this.cell)) return;
    this.row = row;
    this.cell = cell;
    this.flow.ask();
  }

  press(means) {
    const { flow } = this;
    if (!means || this.isHeld) return;
    const place = flow.model.places[means.word ?? means.row ?? means.ribbon ?? 0];
    if (place === undefined) return; // the last row stands for all words that are not drawn, and has no single key
    if (means.word !== undefined && !flow.data.crossed) flow.lookAt({ query: place });
    if (means.query !== undefined) flow.lookAt({ query: means.query });
    if (means.head !== undefined) flow.lookAt({ view: "map", step: means.head });
    if (means.cell && flow.data.typed.includes(means.cell.step)) flow.editor.open(means.cell);
    else if (means.part !== undefined || means.cell) flow.unfold(means);
    if (means.ribbon !== undefined) flow.unfold({ part: flow.snapshot.share.name, row: means.ribbon, m: 0 });
  }

  key(event) {
    const { flow } = this;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const cellKeys = { map: this.mapKeys, flow: this.flowKeys }[flow.look.view];
    if (cellKeys?.key(event)) event.preventDefault();
    else if (event.target === flow.stage) this.stageKey(event);
  }

  // Closes the arithmetic of a cell (the "sum"). If the focus was in it, the focus moves to the cell or the picture.
  fold() {
    const { flow, flowKeys } = this;
    const { open, sum, look, root } = flow;
    const hadKeys = sum.root.contains(focused(root));
    flow.unfold(null);
    if (!hadKeys) return;
    const place = look.view === "map" ? flow.map.find(open) : flowKeys.at && flowKeys.find(open);
    if (!place) flowKeys.leave();
    else if (look.view === "map") this.mapKeys.focus(place);
    else flowKeys.focus(place);
  }

  // Handles a key while the whole picture has the focus. Up and Down select the previous or next query.
  // The Enter key opens the arithmetic of the largest attention weight, and M opens or closes the map view.
  // All other keys control the timeline of the animation (see bar.js).
  stageKey(event) {
    const { flow } = this;
    const { query, view } = flow.look;
    const last = flow.data.words.T.length - 1;
    const { shares, share } = flow.snapshot;
    const go = {
      ArrowUp: () => flow.lookAt({ query: Math.max(0, query - 1) }),
      ArrowDown: () => flow.lookAt({ query: Math.min(last, query + 1) }),
      Enter: () => flow.unfold({ part: share.name, row: flow.model.mostOf(shares), m: 0 }),
      m: () => flow.lookAt({ view: view === "map" ? "flow" : "map" }),
    }[event.key];
    if (go) {
      event.preventDefault();
      go();
    } else flow.bar.key(event);
  }
}

const isSameCell = (one, other) => one?.row === other?.row && one?.column === other?.column;
