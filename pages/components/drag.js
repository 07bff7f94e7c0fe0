// What a hand moves: by a pointer that it drags, and by arrow keys, after whose last press it is as if it had let go.

const REST_MS = 500;

/** Calls a function once it was not begun again for a while: after the last of several presses of a key. */
export class Rest {
  /**
   * @param {() => void} act
   * @param {number} [ms]
   */
  constructor(act, ms = REST_MS) {
    this.act = act;
    this.ms = ms;
    this.timer = 0;
  }

  get isOn() {
    return this.timer > 0;
  }

  begin() {
    clearTimeout(this.timer);
    this.timer = Number(setTimeout(() => this.end(), this.ms));
  }

  /** Calls the function now, if it is still to be called. */
  end() {
    if (!this.isOn) return;
    this.drop();
    this.act();
  }

  drop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }
}

const leaves = new WeakMap(); // what ends the following of the pointer that an element has captured

/**
 * Follows a pointer that was pressed, until it is let go. Of two pointers on an element the later one is followed.
 * @param {HTMLElement | SVGElement} element stays in the page, and captures the pointer
 * @param {PointerEvent} pressed
 * @param {object} hand
 * @param {(event: PointerEvent) => void} hand.move
 * @param {() => void} hand.release
 * @param {() => void} [hand.cancel] the browser took the pointer, to scroll
 */
export function followPointer(element, pressed, { move, release, cancel = release }) {
  leaves.get(element)?.();
  element.setPointerCapture(pressed.pointerId);
  const heard = { pointermove: move, pointerup: release, pointercancel: cancel };
  const hear = (event) => {
    if (event.pointerId !== pressed.pointerId) return;
    if (event.type !== "pointermove") leave();
    heard[event.type](event);
  };
  const leave = () => Object.keys(heard).forEach((name) => element.removeEventListener(name, hear));
  leaves.set(element, leave);
  Object.keys(heard).forEach((name) => element.addEventListener(name, hear));
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * How an arrow key moves something, to the right and up; undefined for another key. Nothing else hears of an arrow.
 * @param {KeyboardEvent} event
 * @returns {number[] | undefined}
 */
export function arrowOf(event) {
  const arrow = ARROWS[event.key];
  if (arrow) {
    event.preventDefault();
    event.stopPropagation();
  }
  return arrow;
}
