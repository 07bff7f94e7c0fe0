// On a phone, shows the button that opens and closes the tools for which the toolbar has no room (see page.css).
// When the visitor opens another page, the tools are closed.
import { setColours, stateOf } from "./dom.js";

const OPENED = "data-opened"; // attribute of the toolbar while the tools are open

/** @typedef {{ page: string, label: string, palette: Record<string, string> }} Tools page: the slug of the open page */

/** @param {import("./shared.js").Component<Tools>} component */
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".more-tools");
  const toolbar = root.getRootNode().host.closest(".st-key-toolbar");
  const view = stateOf(root);
  const open = (isOpen) => {
    toolbar.toggleAttribute(OPENED, isOpen);
    root.ariaExpanded = String(isOpen);
  };
  setColours(root, data.palette, ["ink", "faint", "q"]);
  root.title = root.ariaLabel = data.label;
  root.onclick = () => open(!toolbar.hasAttribute(OPENED));
  open(view.page === data.page && toolbar.hasAttribute(OPENED));
  view.page = data.page;
}
