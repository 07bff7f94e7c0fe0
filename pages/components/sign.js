// Draws a small picture beside a mathematical symbol.
import { setColours } from "./dom.js";
import { drawPicture } from "./small_picture.js";

/** @param {import("./shared.js").Component<{ shapes: any[][], palette: Record<string, string> }>} component */
export default function ({ parentElement, data: { shapes, palette } }) {
  const root = parentElement.querySelector(".sign");
  setColours(root, palette);
  root.replaceChildren(drawPicture(shapes));
}
