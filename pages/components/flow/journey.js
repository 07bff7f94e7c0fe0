// The time of the picture: how far the journey has come, as it is played, dragged and gone along stop by stop.
import { between, clamp, isCalm } from "./motion.js";

const STOP_MS = {
  ask: 2000, match: 3400, meet: 3000, scale: 1200, add: 1800, mask: 1300, power: 1700, share: 3200, gather: 2300,
  merge: 1600, output: 900,
};
const USUAL_STOP_MS = 1400;
const HOLD_MS = 450; // between two stops, while it plays
const CALM_STOP_MS = 1600; // a stop where nothing may move

export const lastsMs = (stop) => STOP_MS[stop.motion] ?? USUAL_STOP_MS;

export class Journey {
  // ask: asks for a frame. rests: hears that a hand has moved it, and where it rests now.
  constructor(ask, rests) {
    this.ask = ask;
    this.rests = rests;
    this.stops = [];
    this.known = new Set(); // motions that were explained before: a key passes their stops
    this.progress = Infinity; // stops that are behind, and how far the next has come
    this.playing = null; // { last, rests }: the time of the last frame, and what is left of a hold
    this.glide = null;
  }

  // The stops of another snapshot; a journey at its end stays there.
  take(stops) {
    const isAtEnd = this.progress >= this.stops.length;
    this.stops = stops;
    this.progress = isAtEnd ? stops.length : Math.min(this.progress, stops.length);
  }

  // The stop that is under way, or that has just ended, and how far it has come; at the journey's end none.
  get told() {
    if (this.progress >= this.stops.length) return { stop: null, share: 0 };
    const place = Math.max(0, Math.ceil(this.progress) - 1);
    return { stop: this.stops[place], share: this.progress - place };
  }

  get isMoving() {
    return Boolean(this.playing || this.glide);
  }

  // From its start or its end, by itself or not.
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

  scrub(progress) {
    this.glide = this.playing = null;
    this.progress = clamp(progress, 0, this.stops.length);
    this.rests();
    this.ask();
  }

  // One stop on (1) or back (-1) from where it is going to; false where there is none. Those that are known are passed.
  stepBy(way) {
    const from = this.glide?.target ?? this.progress;
    let stop = way > 0 ? Math.floor(from + 1e-6) + 1 : Math.ceil(from - 1e-6) - 1;
    if (stop < 0 || stop > this.stops.length) return false;
    while (stop > 0 && stop < this.stops.length && this.known.has(this.stops[stop - 1].motion)) stop += way;
    this.glideTo(stop, way > 0 ? 0.75 : 0.3);
    return true;
  }

  // To a stop, in so large a part of the time that it takes when it is played.
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

  // What has happened until now.
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
