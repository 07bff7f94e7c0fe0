// One small picture beside a sign. data: { shapes, palette }.
import { drawPicture } from "./small_picture.js";

export default function ({ parentElement, data: { shapes, palette } }) {
  const root = parentElement.querySelector(".sign");
  for (const [name, colour] of Object.entries(palette)) root.style.setProperty(`--${name}`, colour);
  root.replaceChildren(drawPicture(shapes));
}
