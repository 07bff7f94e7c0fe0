// The tokens of the sentence as tiles: the chosen one outlined, under each the share it receives from the chosen one.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".tiles");
  root.classList.toggle("many", data.tokens.length > 20);
  root.classList.toggle("long", data.many);
  root.setAttribute("aria-label", data.label);
  root.style.setProperty("--share", data.colour);
  document.documentElement.lang = data.language; // the whole page speaks it: hyphenation, fonts, screen readers
  const tiles = data.tokens.map((token, i) => {
    const tile = document.createElement("button");
    tile.type = "button";
    tile.className = "tile " + token.origin + (i === data.chosen ? " chosen" : "");
    tile.title = token.title;
    tile.setAttribute("aria-pressed", String(i === data.chosen));
    const word = document.createElement("bdi");
    word.textContent = token.text;
    tile.append(word);
    if (token.share !== null) {
      const bar = document.createElement("span");
      bar.className = "bar";
      const fill = document.createElement("span");
      fill.style.width = Math.round(100 * token.share) + "%";
      bar.append(fill);
      tile.append(bar);
    }
    tile.onclick = () => setTriggerValue("chosen", i);
    return tile;
  });
  roving(root, () => root.replaceChildren(...tiles));
  if (data.many) root.children[data.chosen]?.scrollIntoView({ block: "nearest" });
}
