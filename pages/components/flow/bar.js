// Draws the timeline of the animation: a draggable bar with a segment per keyframe, as long as the keyframe lasts.
import { added, button, element, setAttributes, setOnce } from "../dom.js";
import { followPointer } from "../drag.js";
import { lastsMs } from "./journey.js";
import { clamp } from "./motion.js";
import { totalOf } from "./twin.js";
import { isAlike } from "./words.js";

const CLICK_SLACK = 4; // px: a pointer that moved less until its release has clicked, not dragged

export class StopsBar {
  constructor(root, journey) {
    this.root = root;
    this.journey = journey;
    this.gives = false; // whether the bar loses the focus on release, so that a presentation receives the keys
    this.button = root.appendChild(button("play", {}, () => journey.togglePlay()));
    this.track = added(root, "div", "track", { tabIndex: 0, role: "slider" });
    this.knob = added(this.track, "div", "knob");
    this.track.addEventListener("pointerdown", (event) => this.press(event));
    new ResizeObserver(() => (this.names = null)).observe(this.track);
    this.track.addEventListener("keydown", (event) => this.key(event));
  }

  // Handles a pressed key: arrow keys move by one keyframe ("stop"), the space bar plays or pauses.
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
    if (!isAlike(text.names, this.text?.names)) this.names = null; // draw() then builds the segments again
    this.text = text;
  }

  // Returns the { start, length } of each segment as shares of the bar, in proportion to the keyframes' durations.
  segments() {
    const times = this.journey.stops.map(lastsMs);
    const total = totalOf(times);
    let start = 0;
    return times.map((time) => {
      const segment = { start, length: time / total };
      start += segment.length;
      return segment;
    });
  }

  // Dragging the pointer scrubs through the animation; a click plays the clicked keyframe to its end.
  press(pressed) {
    let isDrag = false;
    // index of the segment whose name was clicked: a long name may extend over the next segment
    const named = this.made.indexOf(pressed.target.closest(".segment"));
    const move = (event) => {
      isDrag ||= Math.abs(event.clientX - pressed.clientX) > CLICK_SLACK;
      const [stop, share] = this.placeAt(event.clientX);
      if (isDrag) this.journey.scrub(stop + share);
    };
    const release = () => {
      if (!isDrag) this.journey.playStop(named < 0 ? this.placeAt(pressed.clientX)[0] : named);
      if (this.gives) this.track.blur();
    };
    followPointer(this.track, pressed, { move, release, cancel: () => {} });
  }

  // Returns the index of the keyframe at a horizontal position, and the share of its segment to the left.
  placeAt(x) {
    const box = this.track.getBoundingClientRect();
    const share = clamp((x - box.left) / box.width);
    const segments = this.segments();
    const stop = Math.max(0, segments.findLastIndex((segment) => share >= segment.start));
    return [stop, (share - segments[stop].start) / segments[stop].length];
  }

  // Draws the bar at the animation's progress. said: the sentence about the current keyframe.
  draw(said) {
    const { stops, progress, playing, told } = this.journey;
    const segments = this.segments();
    const names = stops.map((stop) => stop.motion).join(" ");
    if (names !== this.names) this.make(segments);
    this.names = names;
    this.made.forEach((segment, i) => {
      setOnce(segment.firstChild, "style", `width: ${Math.round(100 * clamp(progress - i))}%`);
      segment.classList.toggle("current", stops[i] === told.stop);
      const isCovered = this.covers.some(([over, under]) => under === i && stops[over] === told.stop);
      segment.classList.toggle("covered", isCovered);
    });
    const stop = Math.min(stops.length - 1, Math.floor(progress));
    this.knob.style.left = `${100 * (segments[stop].start + segments[stop].length * clamp(progress - stop))}%`;
    this.button.classList.toggle("playing", Boolean(playing));
    setOnce(this.button, "aria-label", playing ? this.text.pause : this.text.play);
    setAttributes(this.track, {
      "aria-label": this.text.bar, "aria-valuemin": 0, "aria-valuemax": stops.length,
      "aria-valuenow": Math.round(10 * progress) / 10, "aria-valuetext": said,
    });
  }

  make(segments) {
    this.track.replaceChildren(this.knob);
    this.made = segments.map((segment, i) => {
      const name = this.text.names[this.journey.stops[i].motion];
      const style = `left: ${100 * segment.start}%; width: calc(${100 * segment.length}% - 4px)`;
      const parts = [element("span", "done"), element("span", "label", name)];
      return this.track.appendChild(element("div", "segment", { style }, parts));
    });
    this.nameWhereThereIsRoom();
  }

  // Hides the name of a segment that would overlap the name before it, unless the segment is playing.
  nameWhereThereIsRoom() {
    let end = 0;
    // Reads all rectangles before changing an element, so that the browser computes the layout only once.
    const boxes = this.made.map((segment) => segment.lastChild.getBoundingClientRect());
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
