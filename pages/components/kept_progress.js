// Stores which lessons and accordions ("drawers") the visitor has opened, and which lessons are solved.
// The browser stores this progress and never sends it to the server.
const PROGRESS = "attention-progress";
const DRAWERS = "attention-drawers";
const STAGES = ["opened", "solved"];

/** lesson -> "opened" or "solved"; empty if the stored text cannot be read. @type {() => Map<string, string>} */
export function readProgress() {
  try {
    const kept = Object.entries(JSON.parse(localStorage.getItem(PROGRESS) ?? "{}"));
    return new Map(kept.filter(([, stage]) => STAGES.includes(stage)));
  } catch {
    return new Map();
  }
}

/** Does nothing if the browser refuses to store. @param {Map<string, string>} progress */
export function keepProgress(progress) {
  try {
    localStorage.setItem(PROGRESS, JSON.stringify(Object.fromEntries(progress)));
  } catch {}
}

/** The names of opened accordions ("drawers"); empty if the stored text cannot be read. @type {() => Set<string>} */
export function readDrawers() {
  try {
    return new Set(JSON.parse(localStorage.getItem(DRAWERS) ?? "[]").filter((name) => typeof name === "string"));
  } catch {
    return new Set();
  }
}

/** @param {Set<string>} drawers */
export function keepDrawers(drawers) {
  try {
    localStorage.setItem(DRAWERS, JSON.stringify([...drawers]));
  } catch {}
}
