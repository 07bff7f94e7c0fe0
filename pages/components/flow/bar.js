// The timeline of the journey: a draggable bar with one segment per stop, as long as the stop lasts.
import { added, setOnce } from "../dom.js";
import { lastsMs } from "./journey.js";
import { clamp } from "./motion.js";
import { isAlike } from "./words.js";

export class StopsBar {
  constructor(root, journey) {
    this.root = root;
    this.journey = journey;
    this.gives = false; // whether the bar gives up the focus when released, so that a presentation gets the keys
    this.button = added(root, "button", "play");
    this.button.onclick = () => journey.togglePlay();
    this.track = added(root, "div", "track");
    this.knob = added(this.track, "div", "knob");
    this.track.addEventListener("pointerdown", (event) => {
      this.track.setPointerCapture(event.pointerId);
      this.moved(event);
    });
    this.track.addEventListener("pointermove", (event) => event.buttons && this.moved(event));
    this.track.addEventListener("pointerup", () => this.gives && this.track.blur());
    new ResizeObserver(() => (this.names = null)).observe(this.track);
    Object.assign(this.track, { tabIndex: 0, role: "slider" });
    this.track.addEventListener("keydown", (event) => this.key(event));
  }

  // Arrow keys move by one stop, the space bar plays or pauses.
  key(event) {
    const { journey } = this;
    const go = {
      ArrowRight: () => journey.stepBy(1),
      ArrowLeft: () => journey.stepBy(-1),
      Home: () => journey.scrub(0),
      End: () => journey.scrub(journey.stops.length),
      " ": () => journey.togglePlay(),
    }[event.key];
    if (!go || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go();
  }

  show(text) {
    if (!isAlike(text.names, this.text?.names)) this.names = null; // the segments are built again
    this.text = text;
  }

  // The { start, length } of each segment as shares of the bar, in proportion to the durations of the stops.
  segments() {
    const times = this.journey.stops.map(lastsMs);
    const total = times.reduce((one, other) => one + other, 0);
    let start = 0;
    return times.map((time) => {
      const segment = { start, length: time / total };
      start += segment.length;
      return segment;
    });
  }

  moved(event) {
    const box = this.track.getBoundingClientRect();
    const share = clamp((event.clientX - box.left) / box.width);
    const segments = this.segments();
    const stop = Math.max(0, segments.findLastIndex((segment) => share >= segment.start));
    this.journey.scrub(stop + (share - segments[stop].start) / segments[stop].length);
  }

  // said: the sentence about the current stop.
  draw(said) {
    const { stops, progress, playing, told } = this.journey;
    const segments = this.segments();
    const names = stops.map((stop) => stop.motion).join(" ");
    if (names !== this.names) this.make(segments);
    this.names = names;
    this.made.forEach((element, i) => {
      const done = `${Math.round(100 * clamp(progress - i))}%`;
      if (element.firstChild.style.width !== done) element.firstChild.style.width = done;
      element.classList.toggle("current", stops[i] === told.stop);
      element.classList.toggle(
        "covered",
        this.covers.some(([over, under]) => under === i && stops[over] === told.stop),
      );
    });
    const stop = Math.min(stops.length - 1, Math.floor(progress));
    this.knob.style.left = `${100 * (segments[stop].start + segments[stop].length * clamp(progress - stop))}%`;
    this.button.classList.toggle("playing", Boolean(playing));
    setOnce(this.button, "aria-label", playing ? this.text.pause : this.text.play);
    const values = {
      label: this.text.bar, valuemin: 0, valuemax: stops.length, valuenow: Math.round(10 * progress) / 10,
      valuetext: said,
    };
    for (const [name, value] of Object.entries(values)) setOnce(this.track, `aria-${name}`, String(value));
  }

  make(segments) {
    this.track.replaceChildren(this.knob);
    this.made = segments.map((segment, i) => {
      const element = added(this.track, "div", "segment");
      element.style.left = `${100 * segment.start}%`;
      element.style.width = `calc(${100 * segment.length}% - 4px)`;
      element.append(Object.assign(document.createElement("span"), { className: "done" }));
      const label = added(element, "span", "label");
      label.textContent = this.text.names[this.journey.stops[i].motion];
      return element;
    });
    this.nameWhereThereIsRoom();
  }

  // A name that would overlap the name before it is shown only while its stop is playing.
  nameWhereThereIsRoom() {
    let end = 0;
    // All boxes are read before an element is changed, so that the browser computes the layout only once.
    const boxes = this.made.map((element) => element.lastChild.getBoundingClientRect());
    boxes.forEach(({ left, right }, i) => {
      const isFree = left > end + 6;
      this.made[i].classList.toggle("crowded", !isFree);
      if (isFree) end = right;
    });
    this.covers = boxes.flatMap((one, over) =>
      boxes.flatMap((other, under) => (isOver(one, other) ? [[over, under]] : [])),
    );
  }
}

const isOver = (one, other) => one !== other && one.left < other.right + 6 && other.left < one.right + 6;
