// A lesson is open, or its exercise was just answered right. What was solved once stays solved.
import { keepProgress, readProgress } from "./kept_progress.js";

export default function ({ data }) {
  const progress = readProgress();
  if (progress.get(data.slug) === "solved") return;
  keepProgress(progress.set(data.slug, data.solved ? "solved" : "opened"));
}
