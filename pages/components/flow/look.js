// Between the picture and the server: hands what the server looks at, and the sum of the opened cell, to the picture;
// and tells the server what was done in it. It is small, so that a look costs the server next to nothing.
import { shared, tellOthers } from "../shared.js";

export default function ({ data, setTriggerValue }) {
  document.documentElement.lang = data.language; // as spoken.js, which comes after the picture only
  document.body.ariaBusy = data.awaits; // the page comes after its picture
  Object.assign(shared, { look: data, tellServer: setTriggerValue });
  tellOthers("flow-look", data);
}
