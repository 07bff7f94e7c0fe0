// Draws the flow picture outside the visible page as a PNG, and sends it to the server for a slide.
import { isDrawn } from "../dom.js";
import { unpacked } from "../pixels.js";
import { renderPng } from "../svg_file.js";
import { writeStill } from "./still.js";

const SCALE = 3; // pixels of the PNG per pixel of the picture: a slide is shown on a large screen

/** @param {import("../shared.js").Component<Uint8Array>} component data: of pages/presentation/flow_stills.py */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".flowstills");
  if (isDrawn(root, data)) return;
  const still = unpacked(data);
  const send = (picture) => setTriggerValue("drawn", { key: still.key, picture });
  draw(root, still).then(send, () => send("")); // if no picture can be drawn, the slide has an attention map instead
}

// Returns the picture as PNG in base64.
async function draw(root, { flow, stop, formulas }) {
  const svg = writeStill(root, { flow, stop, formulas, notes: [], title: "", transparent: false });
  return base64Of(await renderPng(svg, SCALE));
}

/** @type {(file: Blob) => Promise<string>} */
const base64Of = (file) =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1]);
    reader.readAsDataURL(file);
  });
