// Keeps the progress of the query's animation ("journey"): played, scrubbed, or moved keyframe by keyframe.
import { between, clamp, isCalm } from "./motion.js";

/** @typedef {{ motion: string, parts: string[] }} Stop a keyframe: its motion, and the parts that it draws */

const STOP_MS = {
  ask: 2000, match: 3400, meet: 3000, scale: 1200, add: 1800, mask: 1300, power: 1700, share: 3200, gather: 2300,
  merge: 1600, output: 900,
};
const USUAL_STOP_MS = 1400;
const HOLD_MS = 450; // ms of pause between two keyframes while the animation plays
const CALM_STOP_MS = 1600; // ms for which each keyframe is shown if the visitor prefers reduced motion

/** The duration of a stop in ms. @type {(stop: Stop) => number} */
export const lastsMs = (stop) => STOP_MS[stop.motion] ?? USUAL_STOP_MS;

export class Journey {
  /**
   * @param {() => void} ask requests a frame
   * @param {() => void} rests called when the journey has been moved, or has stopped
   */
  constructor(ask, rests) {
    this.ask = ask;
    this.rests = rests;
    /** @type {Stop[]} */
    this.stops = [];
    this.known = new Set(); // kinds of motion shown before; the keyboard's "next keyframe" skips them
    this.progress = Infinity; // number of finished keyframes, plus the finished share of the current keyframe
    /** @type {{ last?: number, rests?: number } | null} the time of the last frame, and the rest of a pause, in ms */
    this.playing = null;
    /** @type {{ from: number, target: number, begun: number, ms: number } | null} the movement to a stop */
    this.glide = null;
  }

  /** Takes the stops of another snapshot; a journey at its end stays at the end. @param {Stop[]} stops */
  take(stops) {
    const isAtEnd = this.progress >= this.stops.length;
    this.stops = stops;
    this.progress = isAtEnd ? stops.length : Math.min(this.progress, stops.length);
  }

  /**
   * The current or just finished stop, and its finished share; { stop: null, share: 0 } at the end of the journey.
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

  /** Moves to the start or the end; plays if `plays` is true. @param {{ plays: boolean, begins: string }} showing */
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

  /** Ends a movement at its target, at once: the end of the journey if it plays. */
  finish() {
    if (this.isMoving) this.scrub(this.glide?.target ?? this.stops.length);
  }

  /** Moves to a position at once. @param {number} progress */
  scrub(progress) {
    this.glide = this.playing = null;
    this.progress = clamp(progress, 0, this.stops.length);
    this.rests();
    this.ask();
  }

  /**
   * Moves to the next stop (1) or the previous one (-1), counted from the target of a running movement; returns false
   * if there is no such stop. Stops with a known motion are skipped.
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

  /** Plays one stop from its beginning, and rests at its end. @param {number} place the index of the stop */
  playStop(place) {
    this.progress = place;
    this.glideTo(place + 1, 0.75);
  }

  /**
   * Moves to a stop by animation.
   * @param {number} stop
   * @param {number} share the share of the stop's duration that the movement takes
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

  /** Advances the journey to a time. @param {number} now ms */
  advance(now) {
    if (this.playing) this.play(this.playing, now);
    if (this.glide) this.followGlide(this.glide, now);
    if (this.playing) this.ask();
  }

  // Advances a playing animation; with reduced motion, it jumps from the end of each keyframe to the next.
  play(playing, now) {
    const elapsed = now - (playing.last ?? now);
    playing.last = now;
    if (playing.rests > 0) {
      playing.rests -= elapsed;
      return;
    }
    const stop = Math.min(this.stops.length - 1, Math.floor(this.progress));
    this.progress = isCalm() ? stop + 1 : Math.min(stop + 1, this.progress + elapsed / lastsMs(this.stops[stop]));
    if (this.progress === stop + 1) playing.rests = isCalm() ? CALM_STOP_MS : HOLD_MS;
    if (this.progress < this.stops.length) return;
    this.playing = null;
    this.rests();
  }

  followGlide({ from, target, begun, ms }, now) {
    const share = clamp((now - begun) / ms);
    this.progress = between(from, target, share);
    if (share >= 1) {
      this.glide = null;
      this.rests();
    }
    this.ask();
  }
}
