// A text cut in three ways, a row each: words, pieces, characters. The pieces grow with the number of merges, which a
// slider scrubs. Who points at a token, or walks to it, sees the same letters in all rows.
const TINTS = 6; // colours that follow each other
const STEP_TIME = 260; // ms between two stages while it plays

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".tokens");
  root.trigger = setTriggerValue;
  for (const [name, colour] of Object.entries(data.palette)) root.style.setProperty(`--${name}`, colour);
  clearInterval(root.playing);
  root.playing = null;
  const isNew = root.text !== data.original;
  Object.assign(root, { text: data.original, at: isNew || root.at === undefined ? data.merges : root.at });
  const rows = data.rows.map((row) => drawRow(root, row));
  const pieces = rows[1];
  const slider = element("input", "", { type: "range", min: 0, max: data.most, step: 1 });
  slider.setAttribute("aria-label", data.label.slider);
  const told = element("output", "told");
  const player = element("button", "play", { type: "button" });
  const show = (merges) => {
    root.at = merges;
    slider.value = merges;
    const stage = data.stages.findLast((each) => each.merges <= merges);
    const size = (data.unmerged + merges).toLocaleString("en-US");
    const note = data.label.note.replace("{count}", stage.tokens.length).replace("{size}", size);
    fillRow(root, pieces, stage.tokens, note);
    told.textContent = data.label.told.replace("{merges}", merges).replace("{newest}", newest(data, merges));
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  const rest = () => {
    clearInterval(root.playing);
    root.playing = null;
    player.textContent = data.label.play;
  };
  const settle = () => root.trigger("merges", root.at);
  const next = () => {
    const following = data.stages.find((each) => each.merges > root.at);
    if (root.isConnected && following) return show(following.merges);
    rest();
    if (root.isConnected) settle();
  };
  player.onclick = () => {
    if (root.playing) {
      rest();
      return settle();
    }
    if (!data.stages.some((each) => each.merges > root.at)) show(0);
    player.textContent = data.label.pause;
    root.playing = setInterval(next, STEP_TIME);
  };
  slider.oninput = () => {
    rest();
    show(Number(slider.value));
  };
  slider.onchange = settle;
  const bar = element("div", "bar");
  bar.append(player, slider, told);
  pieces.append(bar);
  root.replaceChildren(...rows);
  rest();
  show(root.at);
}

// The newest merge of all that were made so far, as "a + b".
function newest(data, merges) {
  const merge = data.learned[merges - 1];
  return merge ? `${merge[0]} + ${merge[1]}` : data.label.none;
}

function drawRow(root, { name, note, tokens }) {
  const row = element("section", "row");
  const title = element("h6", "", { textContent: name });
  const said = element("p", "note");
  const list = element("ol", "list");
  row.append(title, said, list);
  fillRow(root, row, tokens, note);
  return row;
}

function fillRow(root, row, tokens, note) {
  row.querySelector(".note").textContent = note;
  const list = row.querySelector(".list");
  roving(list, () => list.replaceChildren(...tokens.map((token, place) => drawToken(root, token, place))), "li");
}

function drawToken(root, { shown, said, first, last, known }, place) {
  const token = element("li", `token tint${place % TINTS}${known ? "" : " unknown"}`, { textContent: shown });
  token.setAttribute("aria-label", said);
  token.span = [first, last];
  token.onpointerenter = token.onfocus = () => light(root, token.span);
  token.onpointerleave = token.onblur = () => light(root, null);
  return token;
}

// Marks the tokens of all rows that stand for one of these letters.
function light(root, span) {
  for (const token of root.querySelectorAll(".token")) {
    const [first, last] = token.span;
    token.classList.toggle("lit", Boolean(span) && first < span[1] && span[0] < last);
  }
}

function element(tag, className, properties = {}) {
  return Object.assign(document.createElement(tag), { className, ...properties });
}
