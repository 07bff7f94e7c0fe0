// The tokens of the sentence as tiles: the chosen one outlined, under each the share it receives from the chosen one.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".tiles");
  const focused = [...root.children].indexOf(root.getRootNode().activeElement);
  root.replaceChildren();
  root.classList.toggle("many", data.tokens.length > 20);
  root.classList.toggle("long", data.many);
  root.setAttribute("aria-label", data.label);
  root.style.setProperty("--share", data.colour);
  document.documentElement.lang = data.language; // the whole page speaks it: hyphenation, fonts, screen readers
  data.tokens.forEach((token, i) => {
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
    tile.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = step && root.children[i + step];
      if (next) {
        next.focus();
        event.preventDefault();
      }
    };
    root.append(tile);
  });
  if (data.many) root.children[data.chosen]?.scrollIntoView({ block: "nearest" });
  root.children[focused]?.focus(); // whoever walks along the tiles with the keyboard stays where they were
}
