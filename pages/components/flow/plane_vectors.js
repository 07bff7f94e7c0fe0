// The vectors of a selection, read from the steps of a run, and changed by dragging. A moved vector changes its weight
// matrix to the nearest matrix that computes it (least_change of the core); so the vectors of other words move, too.
import { combined, dotProduct } from "./plane_axes.js";
import { keyHead, placeOf } from "./twin.js";

export class PlaneVectors {
  // steps: those of the run or of the twin. roles: role -> { kind, weight, source }, where the vectors come from.
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

  // The x of a word, from which a weight matrix computes its vector; null if x is all zeros.
  source(role, place) {
    const { source } = this.roles[role];
    const { shape, value } = this.steps[source];
    const first = placeOf(shape, [Math.min(this.look.batch, shape[0] - 1), place, 0]);
    const x = value.subarray(first, first + shape.at(-1));
    return x.some((number) => number !== 0) ? x : null;
  }

  // The new numbers of the step that changes when a vector moves: { [step]: numbers }.
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

// Returns the numbers of W' = W + x^T (q' - q) / (x x^T), in the columns of one head.
function leastChange({ shape: [, columns], value }, x, change, first) {
  const numbers = value.slice();
  const squared = dotProduct(x, x);
  x.forEach((number, row) =>
    change.forEach((step, m) => (numbers[row * columns + first + m] += (number * step) / squared)),
  );
  return numbers;
}
