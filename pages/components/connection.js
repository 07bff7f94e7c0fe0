// Says within two seconds that the server cannot be reached, and takes the sentence away when it answers again.
// Streamlit notices only a closed connection. Where a network just falls silent, the server is asked after each act of
// the visitor. A browser without any network may still reach a server on the same machine: "offline" proves nothing.
import { shared } from "./shared.js";

const LOOK_EVERY_MS = 200;
const LIMIT_MS = 1000; // an answer comes by then, or there is no connection
const ASK_AGAIN_MS = 600;
const ACTS = ["pointerup", "keyup", "change"]; // what a visitor does may ask the server for something

const base = () => globalThis["__streamlit"]?.BACKEND_BASE_URL ?? location.origin;
const appState = (name) => document.querySelector('[data-testid="stApp"]')?.getAttribute(`data-test-${name}`);

async function answers() {
  try {
    const health = `${base().replace(/\/$/, "")}/_stcore/health`;
    const answer = await fetch(health, { cache: "no-store", signal: AbortSignal.timeout(LIMIT_MS) });
    return answer.ok;
  } catch {
    return false;
  }
}

/** @param {import("./shared.js").Component<{ text: string }>} component */
export default function ({ parentElement, data }) {
  const place = parentElement.querySelector(".connection");
  shared.connection?.end(); // ends here, because Streamlit does not call the cleanup function when it sends new data
  let isGone = place.textContent !== "";
  let [isAsking, askedAt, acted] = [false, -ASK_AGAIN_MS, false];
  const act = () => (acted = true);
  const show = (gone) => {
    isGone = gone;
    place.textContent = gone ? data.text : "";
  };
  const look = async () => {
    const now = performance.now();
    if (appState("connection-state") !== "CONNECTED") return show(true);
    const doubts = isGone || acted || !navigator.onLine;
    if (!doubts || isAsking || now - askedAt < ASK_AGAIN_MS) return;
    [isAsking, askedAt, acted] = [true, now, false];
    const gone = !(await answers());
    isAsking = false;
    if (watch === shared.connection) show(gone);
  };
  for (const event of ACTS) window.addEventListener(event, act, true);
  const timer = setInterval(look, LOOK_EVERY_MS);
  const watch = {
    end: () => {
      clearInterval(timer);
      for (const event of ACTS) window.removeEventListener(event, act, true);
    },
  };
  shared.connection = watch;
  if (isGone) show(true); // in the language of now
  return watch.end;
}
