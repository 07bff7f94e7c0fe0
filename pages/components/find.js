// The search: which entries fit the typed words, best first.

/**
 * @typedef {object} Entry something that can be found
 * @property {Record<string, string>} titles by language
 * @property {Record<string, string>} details by language
 * @property {string} sign a symbol of a formula, or ""
 */

/**
 * @typedef {object} Indexed
 * @property {number} number the place of the entry
 * @property {Record<string, string>} shown its titles as they are written
 * @property {string[]} titles its titles as they are compared
 * @property {string} all all its texts as they are compared
 * @property {string} sign
 */

/**
 * @param {Entry[]} entries
 * @returns {Indexed[]}
 */
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

/**
 * The numbers of the entries that have every word that is typed: first those of that name, then those whose title has
 * the words.
 * @param {Indexed[]} index
 * @param {string} typed
 * @returns {number[]}
 */
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
