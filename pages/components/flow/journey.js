// The time of the picture: how far the journey has come, as it is played, dragged and gone along stop by stop.
import { between, clamp, isCalm } from "./motion.js";

/** @typedef {{ motion: string, parts: string[] }} Stop a keyframe: what moves, and the parts that it makes */

const STOP_MS = {
  ask: 2000, match: 3400, meet: 3000, scale: 1200, add: 1800, mask: 1300, power: 1700, share: 3200, gather: 2300,
  merge: 1600, output: 900,
};
const USUAL_STOP_MS = 1400;
const HOLD_MS = 450; // between two stops, while it plays
const CALM_STOP_MS = 1600; // a stop where nothing may move

/** @type {(stop: Stop) => number} */
export const lastsMs = (stop) => STOP_MS[stop.motion] ?? USUAL_STOP_MS;

export class Journey {
  /**
   * @param {() => void} ask asks for a frame
   * @param {() => void} rests hears that a hand has moved the journey
   */
  constructor(ask, rests) {
    this.ask = ask;
    this.rests = rests;
    /** @type {Stop[]} */
    this.stops = [];
    this.known = new Set(); // motions that were shown before: a key skips their stops
    this.progress = Infinity; // the number of stops that are over, and how far the next one has come
    /** @type {{ last?: number, rests?: number } | null} the time of the last frame, and what is left of a hold */
    this.playing = null;
    /** @type {{ from: number, target: number, begun: number, ms: number } | null} on the way to a stop */
    this.glide = null;
  }

  /** The stops of another snapshot; a journey at its end stays at the end. @param {Stop[]} stops */
  take(stops) {
    const isAtEnd = this.progress >= this.stops.length;
    this.stops = stops;
    this.progress = isAtEnd ? stops.length : Math.min(this.progress, stops.length);
  }

  /**
   * The stop that is under way or has just ended, and how far it has come; none at the end of the journey.
   * @returns {{ stop: Stop | null, share: number }}
   */
  get told() {
    if (this.progress >= this.stops.length) return { stop: null, share: 0 };
    const place = Math.max(0, Math.ceil(this.progress) - 1);
    return { stop: this.stops[place], share: this.progress - place };
  }

  get isMoving() {
    return Boolean(this.playing || this.glide);
  }

  /** Goes to its start or its end, and plays from there or not. @param {{ plays: boolean, begins: string }} showing */
  begin({ plays, begins }) {
    this.progress = begins === "end" ? this.stops.length : 0;
    this.glide = null;
    this.playing = plays ? {} : null;
    this.ask();
  }

  togglePlay() {
    if (!this.playing && this.progress >= this.stops.length) this.progress = 0;
    this.playing = this.playing ? null : {};
    if (!this.playing) this.rests();
    this.ask();
  }

  /** @param {number} progress */
  scrub(progress) {
    this.glide = this.playing = null;
    this.progress = clamp(progress, 0, this.stops.length);
    this.rests();
    this.ask();
  }

  /**
   * Goes to the next stop (1) or back (-1), from the stop where it is going; returns false if there is none. Known
   * stops are skipped.
   * @param {1 | -1} way
   * @returns {boolean}
   */
  stepBy(way) {
    const from = this.glide?.target ?? this.progress;
    let stop = way > 0 ? Math.floor(from + 1e-6) + 1 : Math.ceil(from - 1e-6) - 1;
    if (stop < 0 || stop > this.stops.length) return false;
    while (stop > 0 && stop < this.stops.length && this.known.has(this.stops[stop - 1].motion)) stop += way;
    this.glideTo(stop, way > 0 ? 0.75 : 0.3);
    return true;
  }

  /**
   * Moves to a stop.
   * @param {number} stop
   * @param {number} share of the time that it takes when it is played
   */
  glideTo(stop, share) {
    const target = clamp(stop, 0, this.stops.length);
    const passed = this.stops[Math.min(Math.floor(Math.min(target, this.progress)), this.stops.length - 1)];
    if (isCalm()) {
      this.scrub(target);
      return;
    }
    this.playing = null;
    this.glide = { from: this.progress, target, begun: performance.now(), ms: share * lastsMs(passed) };
    this.ask();
  }

  /** Moves to where it is at a time. @param {number} now ms */
  advance(now) {
    if (this.playing) this.play(now);
    if (this.glide) this.followGlide(now);
    if (this.playing) this.ask();
  }

  // Where nothing may move, playing goes from one stop's end to the next.
  play(now) {
    const elapsed = now - (this.playing.last ?? now);
    this.playing.last = now;
    if (this.playing.rests > 0) {
      this.playing.rests -= elapsed;
      return;
    }
    const stop = Math.min(this.stops.length - 1, Math.floor(this.progress));
    this.progress = isCalm() ? stop + 1 : Math.min(stop + 1, this.progress + elapsed / lastsMs(this.stops[stop]));
    if (this.progress === stop + 1) this.playing.rests = isCalm() ? CALM_STOP_MS : HOLD_MS;
    if (this.progress < this.stops.length) return;
    this.playing = null;
    this.rests();
  }

  followGlide(now) {
    const share = clamp((now - this.glide.begun) / this.glide.ms);
    this.progress = between(this.glide.from, this.glide.target, share);
    if (share >= 1) {
      this.glide = null;
      this.rests();
    }
    this.ask();
  }
}
