// Says within two seconds that the server cannot be reached, and takes the sentence away when it answers again.
// Streamlit notices only a closed connection, but if the network just falls silent, the connection stays open.
// So the server is asked while the page is visible: at most 75 times a minute, which takes it 0.2 ms each.
// "Offline" proves nothing: a browser without any network may still reach a server on the same machine.
import { shared } from "./shared.js";

const LOOK_EVERY_MS = 200;
const ASK_EVERY_MS = 800;
const LIMIT_MS = 900; // ms after which a request without an answer counts as a lost connection

const base = () => globalThis["__streamlit"]?.BACKEND_BASE_URL ?? location.origin;
const appState = (name) => document.querySelector('[data-testid="stApp"]')?.getAttribute(`data-test-${name}`);

async function answers() {
  try {
    const health = `${base().replace(/\/$/, "")}/_stcore/health`;
    const answer = await fetch(health, { cache: "no-store", signal: AbortSignal.timeout(LIMIT_MS) });
    return answer.status < 500; // without the app, a proxy answers 502; a mistyped page answers 404
  } catch {
    return false;
  }
}

/** @param {import("./shared.js").Component<{ text: string }>} component */
export default function ({ parentElement, data }) {
  const place = parentElement.querySelector(".connection");
  shared.connection?.end(); // ends here, because Streamlit does not call the cleanup function when it sends new data
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
  if (place.textContent) show(true); // shows the text in the present language
  return watch.end;
}
