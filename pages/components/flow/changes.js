// What a change of the run changed: of each part the rows whose numbers are others; what the headline said before.
const GLOW_MS = 1300; // what a change changed is outlined
const BEFORE_MS = 3200; // what the headline said before

// before, now: snapshots of the same words. { rows: part -> set of rows, said, begun }, or null where nothing changed.
function findChanges(before, now, model) {
  const rows = new Map();
  for (const part of now.parts) {
    const changed = changedRows(before.numbers[part.name], now.numbers[part.name], part.role === "lane" ? 1 : model.keys.length);
    if (changed.size) rows.set(part.name, changed);
  }
  if (!rows.size) return null;
  const best = largestOf(now.shares, 0, now.shares.length);
  const [old, said] = [before.shares[best], now.shares[best]].map(spellPercent);
  return { rows, said: old === said ? "" : old, begun: performance.now() };
}

function changedRows(old, now, count) {
  const changed = new Set();
  if (!old || old.length !== now.length) return changed;
  now.forEach((number, i) => isOther(old[i], number) && changed.add(Math.floor((i * count) / now.length)));
  return changed;
}

// What a change changed, as strongly as it still glows.
function fading(glow, now) {
  const strength = glow ? 1 - (now - glow.begun) / GLOW_MS : 0;
  return strength > 0 ? { rows: glow.rows, strength } : null;
}

const isOther = (one, other) => one !== other && !(Math.abs(one - other) <= 1e-6 * Math.max(Math.abs(one), Math.abs(other)));
const isSameWords = (one, other) => String(one.words.S) === String(other.words.S) && String(one.words.T) === String(other.words.T);
