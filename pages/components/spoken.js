// Sets the language of the page's document, for hyphenation, fonts and screen readers.
// Translates also the texts that Streamlit writes in English only: page.css replaces some words.
// Texts in Streamlit's menus, toolbars, tooltips and dialogs are replaced by this script as soon as they are drawn.

const MENUS = "[data-testid^=stDataFrameColumn], [data-testid^=stDataFrameStatistics]";
const PLACES = `${MENUS}, [data-testid=stElementToolbar], [data-testid=stTooltipContent], [data-testid=stDialog]`;
const LABELS = ["aria-label", "title"];
/** @type {MutationObserver | null} */
let watcher = null; // MutationObserver that replaces Streamlit's texts

/**
 * @typedef {object} Spoken
 * @property {string} language the tag of the language of the page
 * @property {Record<string, string>} words what page.css shows instead of Streamlit's words
 * @property {string[][]} texts pairs: a text in the other language, and in that of the page; "{page}" is any text
 */

/** @param {import("./shared.js").Component<Spoken>} component */
export default function ({ data }) {
  const { lang, style } = document.documentElement;
  if (lang !== data.language) document.documentElement.lang = data.language;
  for (const [name, text] of Object.entries(data.words)) style.setProperty(`--word-${name}`, JSON.stringify(text));
  watcher?.disconnect();
  const texts = data.texts.map(([from, to]) => [patternOf(from), to]);
  for (const place of document.querySelectorAll(PLACES)) reword(place, texts);
  watcher = new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      if (target instanceof Element && target.closest(PLACES)) reword(target, texts);
      else for (const added of addedNodes) for (const place of placesIn(added)) reword(place, texts);
    }
  });
  watcher.observe(document.body, { childList: true, subtree: true });
}

const placesIn = (node) =>
  node instanceof Element ? [...(node.matches(PLACES) ? [node] : []), ...node.querySelectorAll(PLACES)] : [];

// Returns the pattern of a text, in which "{page}" may be any text.
function patternOf(text) {
  const [before, after] = text.split("{page}").map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  return new RegExp(after === undefined ? `^${before}$` : `^${before}(.+)${after}$`);
}

function speak(text, texts) {
  const [pattern, to] = texts.find(([pattern]) => pattern.test(text)) ?? [];
  return pattern ? to.replace("{page}", () => pattern.exec(text)[1]) : text;
}

// Replaces the texts and labels in an element by those in the language of the page.
function reword(place, texts) {
  const nodes = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const node = nodes.currentNode;
    const shown = speak(node.nodeValue, texts);
    if (shown !== node.nodeValue) node.nodeValue = shown;
  }
  for (const name of LABELS) {
    for (const part of [place, ...place.querySelectorAll(`[${name}]`)]) {
      const text = part.getAttribute(name);
      if (text && speak(text, texts) !== text) part.setAttribute(name, speak(text, texts));
    }
  }
}
