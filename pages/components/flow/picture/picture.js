// Draws the flow picture from a view, an object with everything that is shown.
// Playing, scrubbing and changing settings only draw another view of the picture.
import { clamp } from "../motion.js";
import { Shapes } from "../shapes.js";
import { drawBars } from "./bars.js";
import { drawHead, headsOf } from "./column_heads.js";
import { drawGlow } from "./glow.js";
import { drawAnswer, drawLane, drawWords } from "./lane.js";
import { drawLegend } from "./legend.js";
import { drawMeeting } from "./meeting.js";
import { arrivalOf, clipOf, drawRibbons } from "./ribbons.js";
import { drawRings } from "./rings.js";
import { drawShares } from "./shares.js";
import { drawLooks } from "./strips.js";
import { drawThreads, drawWholeThreads } from "./threads.js";
import { drawVectors } from "./vectors.js";

/** @typedef {import("../layout.js").Layout} Layout */
/** @typedef {import("../model.js").Part} Part */
/** @typedef {import("../views.js").View} View */

/** @typedef {Picture & View} Drawn the picture while it draws a view */

const LAYERS = ["lane", "threads", "ribbons", "cells", "shares", "marks", "texts", "carriers", "flying", "hits"];

export class Picture {
  // A view has these properties; draw() copies all of them to the picture.
  /** @type {Layout} */
  layout;
  /** @type {boolean} */
  hasRest;
  /** @type {number | null} */
  hovered;

  constructor(svg) {
    this.shapes = new Shapes(svg, LAYERS);
    this.put = this.shapes.put.bind(this.shapes);
    this.clip = clipOf(svg);
    this.arrival = arrivalOf(svg);
    this.shapes.layers.get("ribbons").setAttribute("clip-path", this.clip.url);
  }

  /** @param {View} view */
  draw(view) {
    const drawn = Object.assign(this, view);
    const { snapshot, layout } = view;
    /** @type {number} */
    this.unit = layout.unit;
    /** @type {number} */
    this.rows = snapshot.shares.length;
    /** @type {Map<string, Part>} */
    this.byName = new Map(snapshot.parts.map((part) => [part.name, part]));
    /** @type {ReturnType<typeof stagesOf>} */
    this.stage = stagesOf(snapshot.stops, view.progress);
    const current = Math.min(snapshot.stops.length, Math.floor(view.progress));
    this.stop = snapshot.stops[current] ?? null;
    /** @type {Part[]} */
    this.columns = columnsOf(layout);
    this.columnHeads = headsOf(drawn);
    /** @type {Map<string, { look: string, opacity: number, paths: string[] }>} */
    this.threads = new Map(); // class and opacity -> finished connecting lines with the same style, drawn as one path
    /** @type {Map<string, { look: string, opacity: number, fill: number, paths: string[] }>} */
    this.looks = new Map(); // class, opacity and fill -> cells without frames with the same style, drawn as one path
    /** @type {Map<string, number>} */
    this.numberEnds = new Map(); // "part row" -> the right end of the number beside a bar, where a line may begin
    this.shapes.begin();
    drawLane(drawn);
    drawWords(drawn);
    drawLegend(drawn);
    for (const part of layout.parts) drawPart(drawn, part);
    drawWholeThreads(drawn);
    drawLooks(drawn);
    drawShares(drawn);
    drawRibbons(drawn);
    drawAnswer(drawn);
    drawGlow(drawn);
    drawRings(drawn, view.rings);
    this.shapes.end();
  }

  // ---- places and states --------------------------------------------------------------------------------------------
  /** Whether a part is drawn. @param {string} name */
  has(name) {
    return name in this.layout.x;
  }

  /** Whether a row stands for all words that are not drawn; it has a share, but no vectors. @param {number} row */
  isRest(row) {
    return this.hasRest && row === this.rows - 1;
  }

  /** How much of a part is drawn: from 0 before its stop to 1 after it. @param {Part} part */
  come(part) {
    return this.stage.parts.get(part.name) ?? 1;
  }

  /** Whether the current stop makes a part. @param {Part} part */
  isActive(part) {
    return Boolean(this.stop?.parts.includes(part.name)) && this.come(part) < 1;
  }

  /**
   * The y position of the middle of a part's numbers in a row.
   * @param {Part} part
   * @param {number} row
   */
  y(part, row) {
    return part.role === "lane" ? this.layout.laneY : this.layout.rowY[row];
  }

  /** The opacity of a row: while a row is hovered, the others are pale. @param {number} row */
  nearness(row) {
    return this.hovered === null || this.hovered === row ? 1 : 0.1;
  }

  /**
   * The finished share of a row in a stop whose rows appear one after the other.
   * @param {number} share the finished share of the stop
   * @param {number} row
   */
  turn(share, row) {
    return clamp(clamp((share - 0.12) / 0.88) * (this.rows + 1) - row);
  }
}

// Returns the parts (vectors, scores, weights) that have a separate column, from left to right.
function columnsOf({ parts, x }) {
  return parts.filter((part) => part.role !== "lane").sort((one, other) => x[one.name] - x[other.name]);
}

function drawPart(picture, part) {
  const share = picture.come(part);
  if (share <= 0) return;
  if (part.role !== "lane") drawHead(picture, part, share);
  if (!part.mixes) drawThreads(picture, part, share);
  if (part.is_share) return; // attention weights are drawn by drawShares and drawRibbons
  if (part.role === "pair") drawBars(picture, part, share);
  else drawVectors(picture, part, share);
  if (picture.isActive(part) && part.role.startsWith("pair")) drawMeeting(picture, part, share);
}

// Returns the finished share, 0 to 1, of the animation of each part (a Map) and of each kind of motion (an object).
function stagesOf(stops, progress) {
  const parts = new Map();
  /** @type {Record<string, number>} */
  const motions = {};
  stops.forEach((stop, i) => {
    const share = clamp(progress - i);
    motions[stop.motion] = share;
    stop.parts.forEach((name, place) => {
      const own = stop.motion === "power" ? Number(share > 0) : clamp(share * stop.parts.length - place);
      if (stop.motion !== "share" || !parts.has(name)) parts.set(name, own);
    });
  });
  return { parts, motions };
}
