// Reads the vectors of the selected head from the steps of a run, and computes what dragging them changes.
// If a weight matrix computes a dragged vector, that matrix is replaced by the nearest one that gives the new vector.
// The vectors of other words then move too; least_change of attention_core computes the same.
import { combined, dotProduct } from "./plane_axes.js";
import { keyHead, placeOf } from "./twin.js";

export class PlaneVectors {
  // steps: those of the server's run, or those computed by the browser during a drag (twin.js).
  // roles: "q", "k" or "v" -> { kind, weight, source }, how these vectors are computed.
  constructor(model, look, steps, roles) {
    this.model = model;
    this.look = look;
    this.steps = steps;
    this.roles = roles;
  }

  step(role) {
    return this.steps[role];
  }

  width(role) {
    return this.step(role).shape.at(-1);
  }

  head(role) {
    const { shape } = this.step(role);
    return keyHead(this.look.head, this.model.heads, shape[1]);
  }

  vector(role, place) {
    const { shape, value } = this.step(role);
    const first = placeOf(shape, [Math.min(this.look.batch, shape[0] - 1), this.head(role), place, 0]);
    return Array.from(value.subarray(first, first + shape.at(-1)));
  }

  // Returns the x of a word, from which a weight matrix computes the word's vector; null if x is all zeros.
  source(role, place) {
    const { source } = this.roles[role];
    const { shape, value } = this.steps[source];
    const first = placeOf(shape, [Math.min(this.look.batch, shape[0] - 1), place, 0]);
    const x = value.subarray(first, first + shape.at(-1));
    return x.some((number) => number !== 0) ? x : null;
  }

  // Returns the new numbers of the step that a dragged vector changes: { [step]: numbers }.
  moved(role, place, wanted) {
    const old = this.vector(role, place);
    const change = combined(wanted, -1, old);
    const { kind, weight } = this.roles[role];
    if (kind === "given") return { [role]: this.withRow(role, place, wanted) };
    return {
      [weight]: leastChange(this.steps[weight], this.source(role, place), change, this.head(role) * old.length),
    };
  }

  withRow(role, place, wanted) {
    const { shape, value } = this.step(role);
    const numbers = value.slice();
    numbers.set(wanted, placeOf(shape, [Math.min(this.look.batch, shape[0] - 1), this.head(role), place, 0]));
    return numbers;
  }
}

// Returns the numbers of W' = W + x^T (q' - q) / (x x^T), changed in one head's columns so that x W' = q'.
function leastChange({ shape: [, columns], value }, x, change, first) {
  const numbers = value.slice();
  const squared = dotProduct(x, x);
  x.forEach((number, row) =>
    change.forEach((step, m) => (numbers[row * columns + first + m] += (number * step) / squared)),
  );
  return numbers;
}
