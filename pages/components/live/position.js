// Where sliders stand of which one is held: all that follows them shows this position, and the server's when it is let
// go. data: { of, counts, position, waits_for }: the sliders' names, how many positions each has, and where the server
// says that they stand: each position of one with each of the others, the last fastest; where others stand, by name,
// that are waited for. show: draws a position, null where it waits.
import { hear, shared } from "../shared.js";

const followers = new WeakMap(); // by element: the sliders that it follows, and how it is drawn

export function followSlider(root, data, show) {
  const isNew = !followers.has(root);
  followers.set(root, { data, show });
  show(positionHeld(data));
  if (isNew) listenToSliders(root);
}

export function positionHeld({ of, counts, position, waits_for: waitsFor }) {
  const held = shared.heldSlider;
  if (!held) return position;
  if (held.of in waitsFor) return held.position === waitsFor[held.of] ? position : null;
  const which = of.indexOf(held.of);
  if (which < 0) return position;
  const stride = counts.slice(which + 1).reduce((one, other) => one * other, 1);
  const own = Math.floor(position / stride) % counts[which];
  return position + (held.position - own) * stride;
}

function listenToSliders(root) {
  const end = hear("slider-moved", ({ of }) => {
    const { data, show } = followers.get(root);
    if (!root.isConnected) end();
    else if (data.of.includes(of) || of in data.waits_for) show(positionHeld(data));
  });
}
