// The exchange of the selection between the picture and the server: the picture sends its selection after a pause
// (debounce), and takes over each new selection of the server.
import { Rest } from "../drag.js";
import { hear, shared } from "../shared.js";

const HAND_RESTS_MS = 350;

export class Exchange {
  constructor(flow) {
    this.flow = flow;
    this.order = 0; // the number of the last selection of the server that was taken over
    // Debounces the sending of the selection: only the last one before a pause is sent.
    this.resting = new Rest(() => (flow.journey.isMoving ? this.tellLook() : this.tellLooked()), HAND_RESTS_MS);
  }

  // ---- from the server ----------------------------------------------------------------------------------------------
  // Returns the selection (a Look) for data of the server.
  lookOf({ batch, head, query, step, stop, cell }) {
    const { flow } = this;
    const isMap = step !== null && (cell === null || !flow.model.findPart(step, cell));
    const stays = flow.look?.view === "map" && step === flow.look.step;
    if (flow.data.cut) return { batch, head, query, view: "flow", step: flow.share }; // the map stands under the flow
    return { batch, head, query, view: isMap || stays ? "map" : this.sight(cell, stop), step: step ?? flow.share };
  }

  // Returns "plane" or "flow", the views that do not show a whole step.
  sight(cell, stop) {
    const { plane } = this.flow.data;
    if (stop && !cell) return plane && stop === "plane" ? "plane" : "flow";
    const view = this.flow.look ? this.flow.look.view : plane?.opens;
    return plane && view === "plane" && !cell ? "plane" : "flow";
  }

  // A selection limited to what the current run has.
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

  // Called if flow/look.js is not on the page yet: it will bring the sum of the opened cell, but no new selection.
  expect({ order, step, stop, cell }) {
    this.order = order;
    this.rest(stop);
    this.flow.open = cell && { step, index: cell };
  }

  // Takes over the selection of the server, and the sum of the opened cell.
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

  // ---- to the server ------------------------------------------------------------------------------------------------
  // Sends an event at once. A pending selection is dropped, because the event contains more.
  tell(name, value) {
    this.resting.drop();
    this.send(name, value);
  }

  send(name, value) {
    if (!this.flow.data.hears) return;
    if (shared.tellServer) shared.tellServer(name, value);
    else hear("flow-look", () => this.send(name, value), { once: true }); // flow/look.js is not on the page yet
  }

  tellLook() {
    this.resting.begin();
  }

  tellLooked() {
    const looked = this.looked();
    this.rested = looked.stop;
    this.tell("looked", looked);
  }

  looked({ query, head, view, step } = this.flow.look) {
    return { query, head, step: view === "map" ? step : null, stop: this.stop(view) };
  }

  // Where the journey stands: the name of the last part of the current stop, "start" or "end"; "plane" in the plane
  // view; null in the map view, and at the place where the page would begin.
  stop(view) {
    const { journey, data } = this.flow;
    const isUsual = view === (data.plane?.opens ?? "flow");
    if (view === "map") return null;
    if (view === "plane") return isUsual ? null : "plane";
    if (journey.told.stop) return journey.progress > 0 ? journey.told.stop.parts.at(-1) : "start";
    return isUsual ? null : "end";
  }

  // Moves the journey to the stop that the server names.
  rest(stop) {
    const { journey, data } = this.flow;
    if (stop === this.rested) return;
    this.rested = stop;
    if (data.cut || stop === "plane") return;
    const place = journey.stops.findIndex(({ parts }) => parts.includes(stop));
    journey.scrub(stop === "start" ? 0 : place < 0 ? Infinity : place + 1);
  }

  // Called after the visitor has moved the journey.
  tellStop() {
    const { open, look } = this.flow;
    if (!open && look.view === "flow" && this.stop("flow") !== this.rested) this.tellLook();
  }

  // Requests another selection of a large run, whose numbers the browser does not have. The map of such a run stands
  // under the picture, as the opened step.
  askFor({ query = this.flow.look.query, head = this.flow.look.head, view, step }) {
    const opened = step ?? (view === "map" ? this.flow.share : view === "flow" ? null : shared.look?.step ?? null);
    this.tell("looked", { query, head, step: opened, stop: null });
  }
}

/** @type {(one: { step: string, index: number[] }, other: { step: string, index: number[] }) => boolean} */
export const isSamePlace = (one, other) => one.step === other.step && String(one.index) === String(other.index);
