// The tokens of the sentence as tiles: the chosen one outlined, under each the share it receives from the chosen one.
// Behind them the words that are worth exchanging.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".tiles");
  root.trigger = setTriggerValue;
  root.classList.toggle("many", data.tokens.length > 20);
  root.classList.toggle("long", data.many);
  root.setAttribute("aria-label", data.label);
  root.dataset.name = data.name; // stands before them where there are two rows
  root.style.setProperty("--share", data.colour);
  document.documentElement.lang = data.language; // the whole page speaks it: hyphenation, fonts, screen readers
  roving(root, () => {
    const words = JSON.stringify(data.tokens.map(({ text, share }) => [text, share === null]));
    if (root.words !== words) root.replaceChildren(...data.tokens.map((token, i) => made(root, token, i)));
    root.words = words;
    data.tokens.forEach((token, i) => tell(root.children[i], token, i === data.chosen));
  });
  const swaps = parentElement.querySelector(".swaps");
  swaps.replaceChildren(...data.swaps.map((text, i) => swap(root, text, data.exchange, i)));
  if (data.many) root.children[data.chosen]?.scrollIntoView({ block: "nearest" });
}

// A tile with its word, and with a bar where it receives a share.
function made(root, { text, share }, i) {
  const tile = document.createElement("button");
  tile.type = "button";
  const word = document.createElement("bdi");
  word.textContent = text;
  tile.append(word);
  if (share !== null) {
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.append(document.createElement("span"));
    tile.append(bar);
  }
  tile.onclick = () => root.trigger("chosen", i);
  return tile;
}

function swap(root, text, title, i) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.title = title;
  button.onclick = () => root.trigger("swapped", i);
  return button;
}

// What may be another thing in the same sentence: a long one is not made anew for it.
function tell(tile, { origin, title, share }, chosen) {
  tile.className = "tile " + origin + (chosen ? " chosen" : "");
  tile.title = title;
  tile.setAttribute("aria-pressed", String(chosen));
  if (share !== null) tile.lastChild.firstChild.style.width = Math.round(100 * share) + "%";
}
