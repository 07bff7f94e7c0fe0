// The weights of many heads as small maps: sorted, filtered and searched here, two of them compared. It needs names, words,
// numbers and weights, and knows nothing of what made them.
const LEVELS = 253; // colours of a scale; 255 is a blocked cell
const BITS = "entropy"; // the measure that is no share
const UNKNOWN = -1; // below every number: no query of the sentence says anything

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".heads");
  root.trigger = setTriggerValue;
  if (root.given?.length === data.length && root.given.every((byte, i) => byte === data[i])) return; // drawn already
  root.given = data.slice();
  const shown = unpacked(data);
  const side = shown.words.length;
  const floats = (bytes) => new Float32Array(bytes.slice().buffer);
  shown.maps = shown.heads.map((_, i) => floats(shown.weights).subarray(i * side * side, (i + 1) * side * side));
  shown.rolled = floats(shown.rolled);
  for (const name of ["ground", "ink", "faint", "outline", "share", "x"]) root.style.setProperty("--" + name, shown.palette[name]);
  root.look ??= { by: "", least: 0, from: "", to: "", pair: [] };
  for (const end of ["from", "to"]) if (root.look[end] >= side) root.look[end] = "";
  root.look.pair = root.look.pair.filter((i) => i < shown.heads.length);
  root.shown = shown;
  const cards = shown.heads.map((_, i) => cardOf(root, i));
  const parts = { controls: made("div", "controls"), told: made("p", "told", { ariaLive: "polite" }), grid: made("div", "grid"), two: made("div", "two") };
  Object.assign(root, { parts, cards });
  fillControls(root);
  root.replaceChildren(made("p", "about", { textContent: shown.text.about }), ...Object.values(parts), beyondOf(root));
  arrange(root);
  compareTwo(root);
}

function made(kind, name, properties = {}) {
  return Object.assign(document.createElement(kind), { className: name, ...properties });
}

// ---- controls --------------------------------------------------------------------------------------------------------
function fillControls(root) {
  const { text, measures, words } = root.shown;
  const places = words.map((word, i) => [i, word]);
  const by = choiceOf(root, "by", text.sort, [["", text.layers], ...Object.entries(measures)]);
  const from = choiceOf(root, "from", text.from, [["", text.any], ...places]);
  const to = choiceOf(root, "to", text.to, [["", text.any], ...places]);
  const least = made("label", "least", { textContent: text.least });
  const input = made("input", "", { type: "range", min: 0, max: 1, step: 0.05, value: root.look.least });
  const output = made("output", "", { textContent: spellPercent(root.look.least) });
  input.oninput = () => {
    root.look.least = Number(input.value);
    output.textContent = spellPercent(root.look.least);
    arrange(root);
  };
  least.append(input, output);
  root.parts.controls.append(by, from, to, least);
}

function choiceOf(root, name, label, options) {
  const choice = made("label", "", { textContent: label });
  const select = made("select", name);
  for (const [value, said] of options) select.append(made("option", "", { value, textContent: said }));
  select.value = root.look[name];
  select.onchange = () => {
    root.look[name] = select.value;
    arrange(root);
  };
  choice.append(select);
  return choice;
}

// ---- order -----------------------------------------------------------------------------------------------------------
// What a head is sorted by: the weight of a pair of words, if both are chosen, else a measure, here if it is known here.
function sortedBy({ shown, look }) {
  const { from, to, by } = look;
  if (from !== "" && to !== "") {
    const cell = Number(from) * shown.words.length + Number(to);
    const label = said(shown.text.pair, { from: shown.words[from], to: shown.words[to] });
    return { label, spell: spellPercent, here: (i) => shown.maps[i][cell], held: () => undefined };
  }
  if (!by) return null;
  const spell = by === BITS ? spellNumber : spellPercent;
  return { label: shown.measures[by], spell, here: (i) => shown.heads[i].here[by], held: (i) => shown.heads[i].held[by] };
}

function arrange(root) {
  const { shown, look, cards, parts } = root;
  const order = sortedBy(root);
  const number = (i) => order.here(i) ?? order.held(i) ?? UNKNOWN;
  const least = order?.spell === spellPercent ? look.least : 0; // bits are no shares
  root.parts.controls.querySelector(".least").hidden = order?.spell !== spellPercent;
  const all = shown.heads.map((_, i) => i);
  const kept = order ? all.filter((i) => !least || number(i) >= least).sort((i, j) => number(j) - number(i)) : all;
  const inLayer = shown.heads.filter(({ layer }) => layer === shown.heads[0]?.layer).length;
  parts.grid.classList.toggle("layers", !order);
  parts.grid.style.setProperty("--columns", inLayer);
  parts.grid.replaceChildren(...kept.map((i) => cards[i]));
  for (const i of kept) cards[i].number.textContent = order ? numbersOf(shown.text, order, i) : "";
  const sentence = said(shown.text.order, {
    shown: kept.length,
    by: order?.label ?? shown.text.layers,
    first: kept.length ? shown.heads[kept[0]].name : "–",
  });
  const rest = all.length - kept.length;
  parts.told.textContent = rest ? `${sentence} ${said(shown.text.hidden, { hidden: rest })}` : sentence;
}

function numbersOf(text, { here, held, spell }, i) {
  const known = [[text.here, here(i)], [text.held, held(i)]].filter(([, number]) => number !== undefined);
  return known.map(([name, number]) => `${name} ${spell(number)}`).join(" · ") || "–";
}

// ---- cards -----------------------------------------------------------------------------------------------------------
function cardOf(root, i) {
  const { shown, look } = root;
  const { layer, head, name, habit } = shown.heads[i];
  const card = made("div", layer === shown.now[0] && head === shown.now[1] ? "card now" : "card");
  const open = made("button", "open", { type: "button", title: habit, onclick: () => root.trigger("head", [layer, head]) });
  open.setAttribute("aria-label", said(shown.text.open, { name, habit }));
  open.append(imageOf(shown, shown.maps[i], "share"));
  card.number = made("div", "number");
  const compare = made("button", "compare", { type: "button" });
  compare.onclick = () => {
    look.pair = look.pair.includes(i) ? look.pair.filter((each) => each !== i) : [...look.pair, i].slice(-2);
    compareTwo(root);
  };
  card.compare = compare;
  card.append(open, made("div", "name", { textContent: name }), made("div", "habit", { textContent: habit }), card.number, compare);
  return card;
}

// One pixel a cell, enlarged by the browser.
function imageOf({ words, reach, fills, allowed }, numbers, scale) {
  const side = words.length;
  const height = (number) => (scale === "share" ? number / reach : (number / reach + 1) / 2);
  const codes = Uint8Array.from(numbers, (number, i) => {
    if (allowed.length && !allowed[i]) return BLOCKED;
    return Math.round(Math.min(1, Math.max(0, height(number))) * (LEVELS - 1));
  });
  return made("img", "map", { alt: "", draggable: false, src: pixels(codes, side, side, fills[scale]).toDataURL() });
}

// ---- two heads -------------------------------------------------------------------------------------------------------
function compareTwo(root) {
  const { shown, look, cards, parts } = root;
  const { text, heads, maps } = shown;
  cards.forEach(({ compare }, i) => {
    const isChosen = look.pair.includes(i);
    compare.textContent = isChosen ? text.drop : text.compare;
    compare.setAttribute("aria-pressed", String(isChosen));
    compare.setAttribute("aria-label", `${compare.textContent}: ${heads[i].name}`);
  });
  const [one, other] = look.pair;
  const large = look.pair.map((i) => largeOf(shown, heads[i].name, maps[i], "share"));
  if (look.pair.length === 1) large.push(made("p", "", { textContent: text.choose_two }));
  if (look.pair.length === 2) large.push(largeOf(shown, text.difference, maps[one].map((number, i) => number - maps[other][i]), "signed"));
  parts.two.replaceChildren(...large);
}

// A large map with its words; the cell under the pointer, or that the arrows lead to, is told.
function largeOf(shown, name, numbers, scale) {
  const side = shown.words.length;
  const figure = made("figure", "large");
  const told = made("div", "cell", { ariaLive: "polite", textContent: "\u00a0" });
  const frame = made("div", "frame", { tabIndex: 0, role: "application" });
  frame.setAttribute("aria-label", name);
  frame.append(imageOf(shown, numbers, scale));
  let at = [0, 0];
  const tell = (row, column) => {
    at = [row, column].map((place) => Math.min(side - 1, Math.max(0, place)));
    told.textContent = said(shown.text.cell, { query: shown.words[at[0]], key: shown.words[at[1]], number: spellPercent(numbers[at[0] * side + at[1]]) });
  };
  frame.onpointermove = ({ clientX, clientY }) => {
    const { left, top, width, height } = frame.getBoundingClientRect();
    tell(Math.floor(((clientY - top) / height) * side), Math.floor(((clientX - left) / width) * side));
  };
  frame.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    tell(at[0] + step[0], at[1] + step[1]);
    event.preventDefault();
  };
  figure.append(made("figcaption", "", { textContent: name }), frame, told);
  return figure;
}

// ---- rollout beside what is written ----------------------------------------------------------------------------------
function beyondOf({ shown }) {
  const beyond = made("div", "beyond");
  const written = made("figure", "written");
  const most = Math.max(...shown.heads.map((each) => each.written)) || 1;
  const rows = shown.heads.map(({ name, written: length }) => {
    const row = made("div", "row");
    const beam = made("span", "beam");
    beam.style.width = `${(100 * length) / most}%`;
    const room = made("span", "room");
    room.append(beam);
    row.append(made("span", "", { textContent: name }), room, made("span", "", { textContent: spellNumber(length) }));
    return row;
  });
  written.title = shown.text.written;
  written.append(made("figcaption", "", { textContent: shown.text.written_title }), ...rows);
  beyond.append(largeOf(shown, shown.text.rollout, shown.rolled, "share"), written, made("p", "why", { textContent: shown.text.why }));
  return beyond;
}
