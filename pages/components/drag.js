// Dragging by a pointer, and moving by arrow keys, where a pause after the last key counts as the end of a drag.

const REST_MS = 500;

/** Debounces a function: calls it `ms` after the last begin(), such as after the last of several key presses. */
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

  /** Calls the function now if a call is pending. */
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

const leaves = new WeakMap(); // element -> the function that stops following the pointer that it has captured

/**
 * Follows a pressed pointer until it is released. Of two pointers on an element the later one is followed.
 * @param {HTMLElement | SVGElement} element the element that captures the pointer; it must stay in the page
 * @param {PointerEvent} pressed
 * @param {object} hand
 * @param {(event: PointerEvent) => void} hand.move
 * @param {() => void} hand.release
 * @param {() => void} [hand.cancel] called if the browser takes the pointer, to scroll
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
 * The direction of an arrow key, [right, up]; undefined for another key. Stops the propagation of an arrow key's event.
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
