// Shows the buttons that save the flow picture as SVG and PNG; the browser draws these files itself.
import { button, stateOf } from "../dom.js";
import { unpacked } from "../pixels.js";
import { renderPng } from "../svg_file.js";
import { writeStill } from "./still.js";

const PNG_SCALE = 2; // pixels of the PNG per pixel of the picture

/** @param {import("../shared.js").Component<Uint8Array>} component data: of pages/export/flow_files.py, packed */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".flowfiles");
  const state = stateOf(root);
  state.data = unpacked(data);
  const { names, file } = state.data;
  const write = () => writeStill(root, state.data);
  const save = {
    svg: async () => new Blob([write()], { type: "image/svg+xml" }),
    png: () => renderPng(write(), PNG_SCALE),
  };
  root.replaceChildren(...Object.entries(save).map(([kind, make]) =>
    button(kind, { textContent: names[kind] }, async () => download(await make(), `${file}.${kind}`)),
  ));
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads the file after the click
}
