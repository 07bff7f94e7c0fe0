// Translates the texts and labels of a file uploader, which Streamlit writes in English only.
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
  lost: /^Connection lost\. Please wait for the app to reconnect, then try again\.$/,
};
const watchers = new WeakMap(); // container of an uploader -> the MutationObserver that translates the uploader's texts
const wordsOf = new WeakMap(); // container of an uploader -> its texts in the language of the page
const written = new WeakMap(); // text node or labelled element -> Streamlit's English text, and the text shown instead

function speak(english, words) {
  const name = Object.keys(ENGLISH).find((kind) => ENGLISH[kind].test(english));
  return name ? words[name].replace("{what}", () => ENGLISH[name].exec(english)[1]) : english;
}

// Replaces an English text of Streamlit by its translation.
// The English text is stored, so that a later change of language can translate it again.
function reword(place, words, text, write) {
  const before = written.get(place);
  const english = before?.shown === text ? before.english : text;
  const shown = speak(english, words);
  written.set(place, { english, shown });
  if (shown !== text) write(shown);
}

function rewordAll(place, words) {
  const box = place.querySelector('[data-testid="stFileUploader"]');
  if (!box) return; // the uploader's script is still loading; a later call translates the uploader
  const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    reword(text, words, text.nodeValue, (shown) => (text.nodeValue = shown));
  }
  for (const part of box.querySelectorAll("[aria-label]")) {
    reword(part, words, part.ariaLabel, (shown) => (part.ariaLabel = shown));
  }
}

// ---- files chosen while the server cannot be reached --------------------------------------------------------
// If a visitor chooses files while the server is unreachable, Streamlit's uploader loses them without a message.
// This script therefore stores the chosen files until the uploader lists their names.
// After a reconnection, this script passes the files to the uploader again; until then, a sentence says so.
const LOOK_EVERY = 500; // ms between two checks whether the uploader lists the chosen files
const PATIENCE = 8000; // ms after which a sentence says that the chosen files wait, if the uploader does not list them
// container of an uploader -> the chosen files that the uploader does not list yet: { files, since, wasAway, words }.
// since: time in ms when the visitor chose the files. wasAway: whether the server was unreachable then or later.
// words: the uploader's texts in the language of the page.
const givenTo = new WeakMap();
const givenAgain = new WeakSet(); // change events made by giveAgain, whose files a listener must not store again
const guarded = new WeakSet(); // containers of uploaders that already have the event listeners

const isConnected = () => document.querySelector('[data-test-connection-state="CONNECTED"]') !== null;

function namesAll(place, files) {
  const named = place.querySelector('[data-testid="stFileUploader"]')?.innerText ?? "";
  return files.every((file) => named.includes(file.name));
}

function giveAgain(input, files) {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  input.files = transfer.files;
  const event = new Event("change", { bubbles: true });
  givenAgain.add(event);
  input.dispatchEvent(event);
}

function sayWaiting(place, files, words) {
  const line = place.querySelector(".file-waits");
  if (!line) return;
  const text = files.length ? words.waits.replace("{what}", () => files.map((file) => file.name).join(", ")) : "";
  if (line.textContent !== text) line.textContent = text;
}

// Checks every LOOK_EVERY ms whether the uploader lists the chosen files, until it lists all of them.
// After a reconnection, this function passes the files to the uploader again.
function follow(place) {
  const given = givenTo.get(place);
  if (!given || !place.isConnected) return;
  const input = place.querySelector('input[type="file"]');
  const connected = isConnected();
  if (!connected) given.wasAway = true;
  if (namesAll(place, given.files)) {
    givenTo.delete(place);
    sayWaiting(place, [], given.words);
    return;
  }
  if (connected && given.wasAway && input && !input.disabled) {
    given.wasAway = false;
    given.since = performance.now();
    giveAgain(input, given.files);
  }
  if (given.wasAway || performance.now() - given.since > PATIENCE) sayWaiting(place, given.files, given.words);
  setTimeout(() => follow(place), LOOK_EVERY);
}

function guard(place) {
  if (guarded.has(place)) return;
  guarded.add(place);
  const keep = (event, list) => {
    if (givenAgain.has(event) || !list?.length) return;
    const isWatched = givenTo.has(place);
    const input = place.querySelector('input[type="file"]');
    const given = { files: [...list], since: performance.now(), wasAway: !isConnected(), words: wordsOf.get(place) };
    if (input?.disabled) event.preventDefault(); // prevents that the browser opens the file instead of the page
    if (!namesAll(place, given.files)) givenTo.set(place, given);
    if (!isWatched) setTimeout(() => follow(place), LOOK_EVERY);
  };
  place.addEventListener("drop", (event) => keep(event, event.dataTransfer?.files), true);
  place.addEventListener("change", (event) => event.target.type === "file" && keep(event, event.target.files), true);
  place.addEventListener("dragover", (event) => {
    // Without preventDefault, the browser would send no drop event for a disabled uploader.
    if (place.querySelector('input[type="file"]')?.disabled) event.preventDefault();
  });
}

/** @param {{ parentElement: HTMLElement, data: { words: Record<string, string> } }} component */
export default function ({ data, parentElement }) {
  const place = parentElement.closest('[class*="st-key-files_of_"]');
  if (!place) return;
  wordsOf.set(place, data.words);
  guard(place);
  watchers.get(place)?.disconnect(); // observers of two languages would overwrite each other's texts forever
  const watcher = new MutationObserver(() => rewordAll(place, data.words));
  watchers.set(place, watcher);
  rewordAll(place, data.words);
  watcher.observe(place, { childList: true, characterData: true, attributeFilter: ["aria-label"], subtree: true });
  return () => watcher.disconnect();
}
