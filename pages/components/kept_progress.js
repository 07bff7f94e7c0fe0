// Which lessons somebody has opened, and which are solved: kept in this browser alone, and told to nobody.
const PROGRESS = "attention-progress";
const STAGES = ["opened", "solved"];

// Each lesson's stage by its name; what cannot be read counts as nothing.
function readProgress() {
  try {
    const kept = Object.entries(JSON.parse(localStorage.getItem(PROGRESS)) ?? {});
    return new Map(kept.filter(([, stage]) => STAGES.includes(stage)));
  } catch {
    return new Map();
  }
}

// A browser that keeps nothing forgets.
function keepProgress(progress) {
  try {
    localStorage.setItem(PROGRESS, JSON.stringify(Object.fromEntries(progress)));
  } catch {}
}
