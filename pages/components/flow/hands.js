// Input on the picture by mouse, touch and keyboard.
import { focused } from "../dom.js";
import { FlowKeys } from "./flow_keys.js";
import { MapKeys } from "./map_keys.js";
import { meaningOf } from "./shapes.js";

const LONG_PRESS_MS = 350; // after such a touch on a word only the threads of that word are shown
const PRESSED_STAYS_MS = 1500; // how long the other threads stay hidden after the touch ends

export class Hands {
  constructor(flow) {
    this.flow = flow;
    this.row = this.cell = null; // the hovered row, and the hovered cell of the map
    this.isHeld = false; // whether a touch is a long press, which opens nothing
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

  // The meaning (`means`) of the shape under a pointer; a strip of cells drawn together finds it by the x position.
  meant({ target, clientX, clientY }) {
    const means = meaningOf(target);
    if (typeof means !== "function") return means;
    return means(new DOMPoint(clientX, clientY).matrixTransform(this.flow.svg.getScreenCTM().inverse()).x);
  }

  hover(means) {
    const isLane = this.flow.model.parts.get(means?.part)?.role === "lane"; // numbers of the query belong to no key
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
    if (place === undefined) return; // the row of all other words
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

  // Closes the sum. If the focus was in the sum, it moves to the cell of the sum, or to the picture if no cell had it.
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

  // Keys on the whole picture: up and down select another query, Enter opens the sum of the largest share, M opens or
  // closes the map, the other keys control the timeline.
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
