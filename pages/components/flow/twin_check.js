// Whether the twin would have made of the server's numbers what the server made: the first step that it moved where not.
const ROUNDINGS = 32; // of a sum of products, at most
const FLOAT32_ROUNDING = 2 ** -23;

// steps: the server's, as of twin.js. names: of those that the twin moved. rounding: of the precision of the run.
function findTwinDifference(steps, names, query, rounding) {
  const allowed = ROUNDINGS * Math.max(rounding, FLOAT32_ROUNDING);
  return names.find((name) => {
    const step = steps[name];
    if (!step?.operation || !knows(step.operation)) return false;
    const own = computeStep(step, step.operation.reads.map((read) => steps[read]), [query]);
    const largest = step.value.reduce((most, number) => Math.max(most, Math.abs(finite(number))), 1);
    return own.some((number, i) => !Object.is(number, step.value[i]) && !(Math.abs(number - step.value[i]) <= allowed * largest));
  }) ?? null;
}
