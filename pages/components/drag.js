// Moves something by dragging with a pointer or by arrow keys; a pause after the last key ends the movement.

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

const leaves = new WeakMap(); // element -> the function that releases the pointer captured by it

/**
 * Follows a pressed pointer until it is released. Of two pointers on an element the later one is followed.
 * @param {HTMLElement | SVGElement} element the element that captures the pointer; it must stay in the page
 * @param {PointerEvent} pressed
 * @param {object} hand
 * @param {(event: PointerEvent) => void} hand.move
 * @param {(event: PointerEvent) => void} [hand.release]
 * @param {(event: PointerEvent) => void} [hand.cancel] called if the browser takes the pointer, to scroll
 * @param {boolean} [hand.together] whether an earlier pointer on the element is still followed, too
 */
export function followPointer(element, pressed, { move, release = () => {}, cancel = release, together = false }) {
  if (!together) leaves.get(element)?.();
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

/** The movement of each arrow key, [rows down, columns to the right]. @type {Record<string, [number, number]>} */
export const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The direction of an arrow key, [right, up]; undefined for another key. Stops the propagation of an arrow key's event.
 * @param {KeyboardEvent} event
 * @returns {number[] | undefined}
 */
export function arrowOf(event) {
  const move = MOVES[event.key];
  if (!move) return undefined;
  event.preventDefault();
  event.stopPropagation();
  return [move[1], 0 - move[0]];
}
