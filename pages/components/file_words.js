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
  lost: /^Connection lost\. Please wait for the app to reconnect, then try again\.$/,
};
const watchers = new WeakMap(); // by the place of a box
const wordsOf = new WeakMap(); // the page's words, by the place of a box
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
    reword(text, words, text.nodeValue, (shown) => (text.nodeValue = shown));
  }
  for (const part of box.querySelectorAll("[aria-label]")) {
    reword(part, words, part.ariaLabel, (shown) => (part.ariaLabel = shown));
  }
}

// ---- files that are given while the server cannot be reached --------------------------------------------------------
// Streamlit drops them without a word: a box that is switched off takes nothing, and a request that is sent into a
// connection that is dead is never answered. So the files are kept here until the box names them, are given to it once
// more when the connection is back, and a sentence says meanwhile that they wait.
const LOOK_EVERY = 500; // ms
const PATIENCE = 8000; // ms: a server that is there answers sooner
const givenTo = new WeakMap(); // by the place of a box: the files that it does not name yet, and since when
const givenAgain = new WeakSet(); // events of files that are watched already
const guarded = new WeakSet(); // places whose events are listened to

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

// Looks whether the box names what it was given; gives it again where the connection was away in between.
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
    if (input?.disabled) event.preventDefault(); // a browser would open the file in the place of the page
    if (!namesAll(place, given.files)) givenTo.set(place, given);
    if (!isWatched) setTimeout(() => follow(place), LOOK_EVERY);
  };
  place.addEventListener("drop", (event) => keep(event, event.dataTransfer?.files), true);
  place.addEventListener("change", (event) => event.target.type === "file" && keep(event, event.target.files), true);
  place.addEventListener("dragover", (event) => {
    if (place.querySelector('input[type="file"]')?.disabled) event.preventDefault(); // or nothing can be dropped
  });
}

export default function ({ data, parentElement }) {
  const place = parentElement.closest('[class*="st-key-files_of_"]');
  wordsOf.set(place, data.words);
  guard(place);
  watchers.get(place)?.disconnect(); // this runs anew for each language, and two that write would never end
  const watcher = new MutationObserver(() => rewordAll(place, data.words));
  watchers.set(place, watcher);
  rewordAll(place, data.words);
  watcher.observe(place, { childList: true, characterData: true, attributeFilter: ["aria-label"], subtree: true });
  return () => watcher.disconnect();
}
