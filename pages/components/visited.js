// Stores in the browser that a lesson was opened, or that its exercise was solved. A solved lesson stays solved.
import { keepProgress, readProgress } from "./kept_progress.js";

/** @param {import("./shared.js").Component<{ slug: string, solved: boolean }>} component */
export default function ({ data }) {
  const progress = readProgress();
  if (progress.get(data.slug) === "solved") return;
  keepProgress(progress.set(data.slug, data.solved ? "solved" : "opened"));
}
