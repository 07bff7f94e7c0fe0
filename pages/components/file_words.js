// A box for files says the page's words, to a screen reader too: Streamlit writes them in English alone.
const ENGLISH = {
  choose: /^Upload$/,
  drop: /^Drag and drop (?:a file|files) here$/,
  each: /^(.+) per file$/,
  add: /^Add files$/,
  remove: /^Remove (.+)$/,
  kind: /^(.+) files are not allowed\.$/,
  size: /^File must be (.+) or smaller\.$/,
  one: /^Only one file is allowed\.$/,
  input: /^file upload$/,
  error: /^Error: $/,
};
const watchers = new WeakMap(); // by the place of a box
const written = new WeakMap(); // what Streamlit wrote and what stands there now, of a text or of an element's label

function speak(english, words) {
  const name = Object.keys(ENGLISH).find((kind) => ENGLISH[kind].test(english));
  return name ? words[name].replace("{what}", () => ENGLISH[name].exec(english)[1]) : english;
}

// Puts the page's word for what Streamlit wrote, which is known after the page's language was changed, too.
function reword(place, words, text, write) {
  const before = written.get(place);
  const english = before?.shown === text ? before.english : text;
  const shown = speak(english, words);
  written.set(place, { english, shown });
  if (shown !== text) write(shown);
}

function rewordAll(place, words) {
  const box = place.querySelector('[data-testid="stFileUploader"]');
  if (!box) return; // Streamlit fetches its script first
  const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    reword(text, words, text.data, (shown) => (text.data = shown));
  }
  for (const part of box.querySelectorAll("[aria-label]")) {
    reword(part, words, part.ariaLabel, (shown) => (part.ariaLabel = shown));
  }
}

export default function ({ data, parentElement }) {
  const place = parentElement.closest('[class*="st-key-files_of_"]');
  watchers.get(place)?.disconnect(); // this runs anew for each language, and two that write would never end
  const watcher = new MutationObserver(() => rewordAll(place, data.words));
  watchers.set(place, watcher);
  rewordAll(place, data.words);
  watcher.observe(place, { childList: true, characterData: true, attributeFilter: ["aria-label"], subtree: true });
  return () => watcher.disconnect();
}
