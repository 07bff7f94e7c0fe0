// Drawers that this browser has opened have a tick at their right end.
// data: { drawn, opened, said }: the drawers of this page by their keys, those that are open, and what the tick means.
import { keepDrawers, readDrawers } from "./kept_progress.js";

export default function ({ parentElement, data: { drawn, opened, said } }) {
  const seen = readDrawers();
  opened.forEach((key) => seen.add(key));
  if (opened.length) keepDrawers(seen);
  const style = parentElement.querySelector("style") ?? parentElement.appendChild(document.createElement("style"));
  const tick = `content: "\u2713" / ${JSON.stringify(said)}; margin-left: auto; padding-right: 4px; opacity: 0.7;`;
  const places = drawn
    .filter((key) => seen.has(key))
    .map((key) => `.st-key-${key.replace(/[^\w-]/g, "-")} summary::after`);
  style.textContent = places.length ? `${places.join(", ")} { ${tick} }` : "";
}
