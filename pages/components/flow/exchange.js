// Keeps the picture's selection the same in the browser and on the server.
// The picture debounces and sends the visitor's selection, and adopts each new selection of the server.
import { Rest } from "../drag.js";
import { hear, shared } from "../shared.js";

const HAND_RESTS_MS = 350;
const OTHER_VIEWS = ["heads", "plane"]; // views whose name is in the link instead of a keyframe

export class Exchange {
  constructor(flow) {
    this.flow = flow;
    this.order = 0; // number of the latest selection that the server has sent
    // Sends the selection only after it has been the same for a moment, so that one message replaces many.
    this.resting = new Rest(() => (flow.journey.isMoving ? this.tellLook() : this.tellLooked()), HAND_RESTS_MS);
  }

  // ---- from the server ----------------------------------------------------------------------------------------------
  // Returns the selection (a Look) that the server's data describe.
  // If the visitor follows an operand back towards the input, the operand opens in the current view.
  lookOf({ batch, head, query, step, stop, cell, sum }) {
    const { flow } = this;
    flow.heads.follow(stop);
    const isMap = step !== null && (cell === null || !flow.model.findPart(step, cell));
    const stays = flow.look?.view === "map" && step === flow.look.step;
    if (flow.data.cut) {
      // the map of an open step is below the flow picture
      const view = step === null ? this.sight(cell, stop) : "flow";
      return { batch, head, query, view, step: flow.share };
    }
    const isFollowed = Boolean(flow.look && cell && sum?.trail.length);
    const isOnMap = isFollowed ? flow.look.view === "map" : isMap || stays;
    return { batch, head, query, view: isOnMap ? "map" : this.sight(cell, stop), step: step ?? flow.share };
  }

  // Returns the view ("flow", or one of OTHER_VIEWS) to show for a selection without a step opened as a map.
  sight(cell, stop) {
    const { data, look } = this.flow;
    // a view in a link may end with a number, such as "heads-1"; see HeadsView.linkName
    const view = stop?.split("-")[0] ?? (look ? look.view : data.plane?.opens);
    return !cell && OTHER_VIEWS.includes(view) && view in data.text.views ? view : "flow";
  }

  // Returns a copy of a selection whose head, words, view and step exist in the current run.
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

  // Until flow/look.js is loaded, applies the keyframe and the opened cell that the data contain.
  // Once look.js is loaded, it receives the arithmetic of the opened cell.
  expect({ order, step, stop, cell }) {
    this.order = order;
    this.rest(stop);
    this.flow.open = cell && { step, index: cell };
  }

  // Applies the selection and the opened cell's arithmetic that the server sends.
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
  // Sends an event to the server at once. The event includes the selection, so a pending selection is dropped.
  tell(name, value) {
    this.resting.drop();
    this.send(name, value);
  }

  send(name, value) {
    if (!this.flow.data.hears) return;
    if (shared.tellServer) shared.tellServer(name, value);
    // the event is sent when flow/look.js is loaded
    else hear("flow-look", () => this.send(name, value), { once: true });
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

  // Returns the name of the keyframe ("stop") for the server: its last drawn step, "start", "end", or another view.
  // The name is null in the map view, and at the keyframe or in the view with which the page begins by default.
  stop(view) {
    const { journey, data } = this.flow;
    const isUsual = view === (data.plane?.opens ?? "flow");
    if (view === "map") return null;
    if (view === "heads") return this.flow.heads.linkName;
    if (view === "plane") return isUsual ? null : view;
    if (journey.told.stop) return journey.progress > 0 ? journey.told.stop.parts.at(-1) : "start";
    return isUsual ? null : "end";
  }

  // Moves the animation to the keyframe ("stop") that the server names.
  rest(stop) {
    const { journey, data } = this.flow;
    if (stop === this.rested) return;
    this.rested = stop;
    if (data.cut || OTHER_VIEWS.includes(stop?.split("-")[0])) return;
    const place = journey.stops.findIndex(({ parts }) => parts.includes(stop));
    journey.scrub(stop === "start" ? 0 : place < 0 ? Infinity : place + 1);
  }

  // Sends the selection to the server after the visitor has moved the animation to another keyframe.
  tellStop() {
    const { open, look } = this.flow;
    if (!open && look.view === "flow" && this.stop("flow") !== this.rested) this.tellLook();
  }

  // Requests another selection from the server, because the browser has only a part of a large run's numbers.
  // The map of a step of such a run is below the picture, as the opened step.
  askFor({ query = this.flow.look.query, head = this.flow.look.head, view, step }) {
    const isHeads = this.flow.look.view === "heads";
    const kept = view === "flow" || isHeads ? null : shared.look?.step ?? null;
    const opened = step ?? (view === "map" ? this.flow.share : kept);
    this.tell("looked", { query, head, step: opened, stop: isHeads && !opened ? this.flow.heads.linkName : null });
  }
}

/** @type {(one: { step: string, index: number[] }, other: { step: string, index: number[] }) => boolean} */
export const isSamePlace = (one, other) => one.step === other.step && String(one.index) === String(other.index);
