// Tells the server where a lecturer stands, so that the browsers of the audience follow; keeps the room's secret.
import { backendAddress } from "./backend.js";
import { drawPoll } from "./poll.js";
import { shared } from "./shared.js";

const ROOM = "attention-room"; // the room's code and secret in localStorage, so that a reload does not lose the room
const LOOK_EVERY_MS = 100;
const PRESENT_EVERY_MS = 5_000; // ms after which a lecturer who has not moved says so, and hears how many follow
const COUNT_EVERY_MS = 1_000; // ms after which the answers to an open poll are counted again
const RETRY_MS = 1000;
const LIMIT_MS = 10_000; // ms after which a request without an answer counts as lost

/** @typedef {{ code: string, secret: string }} Key */

/** @returns {Key | null} */
function readKey() {
  try {
    const { code, secret } = JSON.parse(localStorage.getItem(ROOM) ?? "null") ?? {};
    return typeof code === "string" && typeof secret === "string" ? { code, secret } : null;
  } catch {
    return null; // the storage is forbidden, or something else has written there
  }
}

/** @param {Key | null} key */
function keepKey(key) {
  try {
    if (key) localStorage.setItem(ROOM, JSON.stringify(key));
    else localStorage.removeItem(ROOM);
  } catch {
    // without a storage, a reload loses the room
  }
}

/**
 * What the animation on the screen shows; null if none is there.
 * @returns {Record<string, unknown> | null}
 */
export function lookNow() {
  const flow = /** @type {any} */ (shared.paintedFlow)?.flow;
  if (!flow?.root.isConnected) return null;
  const { head, query, view, step } = flow.look;
  const stop = Math.round(Math.min(flow.journey.glide?.target ?? flow.journey.progress, flow.journey.stops.length));
  const isMap = view === "map";
  return { head, query, view: isMap ? "map" : "flow", step, stop, cell: isMap ? flow.hands.cell : null };
}

/**
 * @typedef {object} RoomData
 * @property {Key | null} key of the lecturer's room; null if the server knows of none
 * @property {boolean} ended whether the room that this browser keeps has ended
 * @property {{ scene: number, step: string, link: string } | null} place null at the desk
 * @property {string} text says which room is open, and how many follow: {count}
 * @property {import("./poll.js").Poll | null} poll the poll of the scene
 * @property {{ answers: string, truth: string, open: string }} texts of the poll; open: with the {count} of its answers
 */

/** @param {import("./shared.js").Component<RoomData>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const [shown, polled] = [".room", ".poll"].map((name) => parentElement.querySelector(name));
  const tab = (shared.room ??= { sent: "", sentAt: -Infinity, followers: 0, answers: [], told: "" });
  const asks = data.place?.step === "question";
  if (tab.scene !== data.place?.scene) [tab.scene, tab.answers] = [data.place?.scene, []];
  polled.hidden = true;
  tab.end?.(); // ends the old loop, because Streamlit does not call the cleanup function when it sends new data
  shown.textContent = data.key ? data.text.replace("{count}", String(tab.followers)) : "";
  if (data.ended) keepKey(null);
  if (!data.key) {
    const kept = readKey();
    if (kept && !data.ended && tab.told !== kept.secret) {
      tab.told = kept.secret; // told only once, because the server may not know the room any more
      setTriggerValue("kept", kept);
    }
    return;
  }
  const { code, secret } = data.key;
  keepKey(data.key);
  let [isSending, hasEnded, restsUntil] = [false, false, 0];

  // Shows how many have answered while the question is shown; then the answers, until the lecturer goes on.
  const showPoll = () => {
    const poll = asks || tab.answers.length ? data.poll : null;
    polled.hidden = !poll;
    if (!poll) return;
    const count = String(tab.answers.reduce((sum, each) => sum + each, 0));
    const question = `${poll.question} ${data.texts.open.replace("{count}", count)}`;
    drawPoll(polled, asks ? { ...poll, question } : poll, { counts: asks ? null : tab.answers, texts: data.texts });
  };

  const look = async () => {
    const now = performance.now();
    const body = data.place ? JSON.stringify({ ...data.place, look: lookNow() }) : "";
    const isDue = body !== tab.sent || now - tab.sentAt > (asks && data.poll ? COUNT_EVERY_MS : PRESENT_EVERY_MS);
    if (isSending || hasEnded || !isDue || now < restsUntil) return;
    isSending = true;
    try {
      const answer = await fetch(`${backendAddress()}/room/place?room=${code}`, {
        method: "POST",
        headers: { "X-Room-Secret": secret },
        body,
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      if (answer.status === 404) {
        hasEnded = true;
        setTriggerValue("lost", true);
      }
      if (!answer.ok) throw new Error(String(answer.status));
      ({ followers: tab.followers, answers: tab.answers } = await answer.json());
      [tab.sent, tab.sentAt] = [body, now];
      shown.textContent = data.text.replace("{count}", String(tab.followers));
      showPoll();
    } catch {
      restsUntil = now + RETRY_MS;
    }
    isSending = false;
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  tab.end = () => clearInterval(timer);
  look();
  return tab.end;
}
