// The search: which entries fit the typed words, best first.

// entries: { titles, details } by language, { sign }. Each gets its number, its titles as they are compared, and all
// its texts as one; `shown` keeps the titles as they are written.
export function makeIndex(entries) {
  return entries.map((entry, number) => {
    const titles = Object.values(entry.titles).map(simplify);
    const all = [...titles, ...Object.values(entry.details).map(simplify), simplify(entry.sign)].join("\n");
    return { ...entry, number, titles, shown: entry.titles, all };
  });
}

function simplify(text) {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
}

// The numbers of the entries that have every word that is typed: first those that are called so, then those whose title
// has the words.
export function find(index, typed) {
  const wanted = simplify(typed);
  if (!wanted) return [];
  const words = wanted.split(" ");
  const rank = ({ titles, sign }) => {
    if (titles.includes(wanted) || simplify(sign) === wanted) return 0;
    return titles.some((title) => words.every((word) => title.includes(word))) ? 1 : 2;
  };
  const found = index.filter(({ all }) => words.every((word) => all.includes(word)));
  return found
    .map((entry) => [rank(entry), entry.number])
    .sort(([a, i], [b, j]) => a - b || i - j)
    .map(([, number]) => number);
}
