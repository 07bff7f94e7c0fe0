// Says within two seconds that the server cannot be reached, and takes the sentence away when it answers again.
// Streamlit notices only a closed connection, but if a network stops answering, the connection stays open.
// This script therefore sends the server a request while the page is visible: at most 75 a minute, of 0.2 ms each.
// The browser's "offline" proves nothing: even without a network, it may reach a server on the same machine.
import { backendAddress } from "./backend.js";
import { shared } from "./shared.js";

const LOOK_EVERY_MS = 200;
const ASK_EVERY_MS = 800;
const LIMIT_MS = 900; // ms after which a request without an answer counts as a lost connection

const appState = (name) => document.querySelector('[data-testid="stApp"]')?.getAttribute(`data-test-${name}`);

async function answers() {
  try {
    const health = `${backendAddress()}/_stcore/health`;
    const answer = await fetch(health, { cache: "no-store", signal: AbortSignal.timeout(LIMIT_MS) });
    return answer.status < 500; // 502 comes from a proxy whose app is not running
  } catch {
    return false;
  }
}

/** @param {import("./shared.js").Component<{ text: string }>} component */
export default function ({ parentElement, data }) {
  const place = parentElement.querySelector(".connection");
  // ends the old watch, because Streamlit does not call the cleanup function when it sends new data
  shared.connection?.end();
  let [isAsking, askedAt] = [false, performance.now()];
  const show = (gone) => (place.textContent = gone ? data.text : "");
  const look = async () => {
    const now = performance.now();
    if (appState("connection-state") !== "CONNECTED") return show(true);
    if (document.hidden || isAsking || now - askedAt < ASK_EVERY_MS) return;
    [isAsking, askedAt] = [true, now];
    const gone = !(await answers());
    isAsking = false;
    if (watch === shared.connection) show(gone);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  const watch = { end: () => clearInterval(timer) };
  shared.connection = watch;
  if (place.textContent) show(true); // shows the text in the current language
  return watch.end;
}
