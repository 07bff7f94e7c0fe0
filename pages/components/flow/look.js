// The channel between the picture and the server: passes the server's selection and the sum of the opened cell to the
// picture, and events of the picture to the server. Its data are small, so that a new selection costs little.
import { shared, tellOthers } from "../shared.js";

/** @param {import("../shared.js").Component<{ language: string, awaits: boolean }>} component */
export default function ({ data, setTriggerValue }) {
  document.documentElement.lang = data.language; // also set by spoken.js, which is drawn only after the picture
  document.body.ariaBusy = String(data.awaits); // the rest of the page is drawn after the picture
  Object.assign(shared, { look: data, tellServer: setTriggerValue });
  tellOthers("flow-look", data);
}
