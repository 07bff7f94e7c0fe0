// Shows the buttons that save pictures of the run as SVG and PNG: the flow picture, and the maps of all heads.
// The browser draws a file when its button is clicked.
import { element } from "../dom.js";
import { unpacked } from "../pixels.js";
import { saveButtons } from "../svg_file.js";
import { writeStill } from "./still.js";

/** @param {import("../shared.js").Component<Uint8Array>} component data: of pages/export/flow_files.py, packed */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".flowfiles");
  const { pictures, names, ...shared } = unpacked(data);
  const rows = pictures.map(({ kind, caption, file, ...own }) =>
    element("fieldset", kind, [
      element("legend", "", caption),
      ...saveButtons({ names, file }, () => writeStill(root, { ...shared, ...own })),
    ]),
  );
  root.replaceChildren(...rows);
}
