// Which lessons and drawers somebody has opened, and which lessons are solved: kept in this browser alone, and told to
// nobody.
const PROGRESS = "attention-progress";
const DRAWERS = "attention-drawers";
const STAGES = ["opened", "solved"];

// Each lesson's stage by its name; what cannot be read counts as nothing.
export function readProgress() {
  try {
    const kept = Object.entries(JSON.parse(localStorage.getItem(PROGRESS)) ?? {});
    return new Map(kept.filter(([, stage]) => STAGES.includes(stage)));
  } catch {
    return new Map();
  }
}

// A browser that keeps nothing forgets.
export function keepProgress(progress) {
  try {
    localStorage.setItem(PROGRESS, JSON.stringify(Object.fromEntries(progress)));
  } catch {}
}

// The drawers that were opened, by their names; what cannot be read counts as nothing.
export function readDrawers() {
  try {
    return new Set(JSON.parse(localStorage.getItem(DRAWERS)).filter((name) => typeof name === "string"));
  } catch {
    return new Set();
  }
}

export function keepDrawers(drawers) {
  try {
    localStorage.setItem(DRAWERS, JSON.stringify([...drawers]));
  } catch {}
}
