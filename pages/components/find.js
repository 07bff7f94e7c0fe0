// Returns the entries of an index that match the typed words, the best match first.

/**
 * @typedef {object} Entry a search entry
 * @property {string} [kind] such as "control"
 * @property {string} [slug] the page that it opens
 * @property {Record<string, string>} titles language -> title
 * @property {Record<string, string>} details language -> detail
 * @property {string} sign the symbol of a formula, or ""
 */

/**
 * @typedef {object} Indexed
 * @property {number} number the index of the entry
 * @property {string} [kind]
 * @property {string} [slug]
 * @property {Record<string, string>} shown the titles by language, as displayed
 * @property {string[]} titles the titles, simplified for comparison
 * @property {string} all all texts of the entry, simplified for comparison
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
 * The numbers of the entries that contain every typed word: first controls of the open page whose title begins with the
 * typed text, then entries whose title or sign equals it, then entries whose title contains the words, then the others.
 * @param {Indexed[]} index
 * @param {string} typed
 * @param {string} [page] the slug of the open page
 * @returns {number[]}
 */
export function find(index, typed, page) {
  const wanted = simplify(typed);
  if (!wanted) return [];
  const words = wanted.split(" ");
  /** @param {Indexed} entry */
  const rank = ({ kind, slug, titles, sign }) => {
    if (kind === "control" && slug === page && titles.some((title) => title.startsWith(wanted))) return 0;
    if (titles.includes(wanted) || simplify(sign) === wanted) return 1;
    return titles.some((title) => words.every((word) => title.includes(word))) ? 2 : 3;
  };
  const found = index.filter(({ all }) => words.every((word) => all.includes(word)));
  return found
    .map((entry) => [rank(entry), entry.number])
    .sort(([a, i], [b, j]) => a - b || i - j)
    .map(([, number]) => number);
}
