// Shows the buttons that save the flow picture as SVG and PNG; the browser draws these files itself.
import { stateOf } from "../dom.js";
import { unpacked } from "../pixels.js";
import { saveButtons } from "../svg_file.js";
import { writeStill } from "./still.js";

/** @param {import("../shared.js").Component<Uint8Array>} component data: of pages/export/flow_files.py, packed */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".flowfiles");
  const state = stateOf(root);
  state.data = unpacked(data);
  root.replaceChildren(...saveButtons(state.data, () => writeStill(root, state.data)));
}
