// Passes the selection and the opened cell's arithmetic from the server to the picture, and events back.
// This component is separate from the picture, so that a new selection transfers only these few data.
import { shared, tellOthers } from "../shared.js";

/** @param {import("../shared.js").Component<{ language: string, awaits: boolean }>} component */
export default function ({ data, setTriggerValue }) {
  // spoken.js, which also sets the language, is loaded only after the picture
  document.documentElement.lang = data.language;
  document.body.ariaBusy = String(data.awaits); // tells screen readers that the page below the picture is incomplete
  Object.assign(shared, { look: data, tellServer: setTriggerValue });
  tellOthers("flow-look", data);
}
