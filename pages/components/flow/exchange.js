// Between the picture and the server: the server hears what is looked at when the hand rests; where it says something
// new it is obeyed.
import { hear, shared } from "../shared.js";

const HAND_RESTS_MS = 350;

export class Exchange {
  constructor(flow) {
    this.flow = flow;
    this.order = 0; // of the server, the last that was obeyed
  }

  // ---- what the server says -----------------------------------------------------------------------------------------
  // What is looked at, from what the server says.
  lookOf({ batch, head, query, step, stop, cell }) {
    const { flow } = this;
    const isMap = step !== null && (cell === null || !flow.model.findPart(step, cell));
    const stays = flow.look?.view === "map" && step === flow.look.step;
    if (flow.data.cut) return { batch, head, query, view: "flow", step: flow.share }; // the map stands under it
    return { batch, head, query, view: isMap || stays ? "map" : this.sight(cell, stop), step: step ?? flow.share };
  }

  // Of the two that show no whole step.
  sight(cell, stop) {
    const { plane } = this.flow.data;
    if (stop && !cell) return plane && stop === "plane" ? "plane" : "flow";
    const view = this.flow.look ? this.flow.look.view : plane?.opens;
    return plane && view === "plane" && !cell ? "plane" : "flow";
  }

  // The same look in another run, as far as it has it.
  withinReach({ batch, head, query, view, step }) {
    const { data, share } = this.flow;
    return {
      batch: Math.min(batch, data.look.batch),
      head: Math.min(head, data.heads - 1),
      query: Math.min(query, data.words.T.length - 1),
      view: view in data.text.views ? view : "flow",
      step: step in data.steps ? step : share,
    };
  }

  // The channel may come after the picture: it then brings the sum of the opened cell, and nothing else that is new.
  expect({ order, step, stop, cell }) {
    this.order = order;
    this.rest(stop);
    this.flow.open = cell && { step, index: cell };
  }

  // The server hands what it looks at, and the sum of the opened cell.
  obey(look) {
    const { flow } = this;
    if (!flow.data?.hears) return;
    const isNew = look.order > this.order;
    if (isNew) {
      this.order = look.order;
      flow.look = this.lookOf(look);
      this.rest(look.stop);
    }
    const isOpen = flow.open && isSamePlace(flow.open, { step: look.step, index: look.cell });
    if (look.cell && (isNew || isOpen)) flow.fillSum(look);
    else if (!look.cell && isNew) flow.fold();
    flow.editor.refuse(look.refused);
    if (isNew || look.cell) flow.take();
    else flow.ask();
  }

  // ---- what it is told ----------------------------------------------------------------------------------------------
  // It says more than a look that has not been told yet.
  tell(name, value) {
    clearTimeout(this.resting);
    this.send(name, value);
  }

  send(name, value) {
    if (!this.flow.data.hears) return;
    if (shared.tellServer) shared.tellServer(name, value);
    else hear("flow-look", () => this.send(name, value), { once: true }); // flow/look.js is not on the page yet
  }

  // Looks are many: only the one at which the hand rests is told.
  tellLook() {
    clearTimeout(this.resting);
    const { journey } = this.flow;
    this.resting = setTimeout(() => (journey.isMoving ? this.tellLook() : this.tellLooked()), HAND_RESTS_MS);
  }

  tellLooked() {
    const looked = this.looked();
    this.rested = looked.stop;
    this.tell("looked", looked);
  }

  looked({ query, head, view, step } = this.flow.look) {
    return { query, head, step: view === "map" ? step : null, stop: this.stop(view) };
  }

  // Where the journey rests: at the last step of a stop, its start or its end; null where the page would begin.
  stop(view) {
    const { journey, data } = this.flow;
    const isUsual = view === (data.plane?.opens ?? "flow");
    if (view === "map") return null;
    if (view === "plane") return isUsual ? null : "plane";
    if (journey.told.stop) return journey.progress > 0 ? journey.told.stop.parts.at(-1) : "start";
    return isUsual ? null : "end";
  }

  // A stop that the server says: the journey rests there.
  rest(stop) {
    const { journey, data } = this.flow;
    if (stop === this.rested) return;
    this.rested = stop;
    if (data.cut || stop === "plane") return;
    const place = journey.stops.findIndex(({ parts }) => parts.includes(stop));
    journey.scrub(stop === "start" ? 0 : place < 0 ? Infinity : place + 1);
  }

  // A hand has moved the journey.
  tellStop() {
    const { open, look } = this.flow;
    if (!open && look.view === "flow" && this.stop("flow") !== this.rested) this.tellLook();
  }

  // Of a large run the numbers of another look are not here. Its map stands under the picture, as the opened step.
  askFor({ query = this.flow.look.query, head = this.flow.look.head, view, step }) {
    const opened = step ?? (view === "map" ? this.flow.share : view === "flow" ? null : shared.look?.step ?? null);
    this.tell("looked", { query, head, step: opened, stop: null });
  }
}

/** @type {(one: { step: string, index: number[] }, other: { step: string, index: number[] }) => boolean} */
export const isSamePlace = (one, other) => one.step === other.step && String(one.index) === String(other.index);
