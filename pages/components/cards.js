// The lessons as cards: a picture of each, its question, and how far this browser's own reader has come.
const DRAWN = {
  rect: ([x, y, width, height]) => ["rect", { x, y, width, height, rx: 1.5 }],
  frame: ([x, y, width, height]) => ["rect", { x, y, width, height, rx: 1.5 }],
  dot: ([cx, cy, r]) => ["circle", { cx, cy, r }],
  line: ([x1, y1, x2, y2, width]) => ["line", { x1, y1, x2, y2, "stroke-width": width }],
  path: (points) => ["polyline", { points: points.join(" "), "stroke-width": 3 }],
  arc: ([from, to, foot, height, width]) => ["path", { d: `M${from} ${foot} Q${(from + to) / 2} ${foot - height} ${to} ${foot}`, "stroke-width": width }],
};
const FILLED = ["rect", "dot"];

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".cards");
  for (const [name, colour] of Object.entries(data.palette)) root.style.setProperty(`--${name}`, colour);
  const draw = () => {
    const progress = readProgress();
    const list = element("ol", "list");
    list.append(...data.cards.map((card) => drawCard(card, progress.get(card.slug), data.text, (slug) => setTriggerValue("opened", slug))));
    root.replaceChildren(drawSummary(data.text, progress, draw), list);
  };
  draw();
}

// How many are opened and solved, and a way to forget it; nothing before the first.
function drawSummary(text, progress, draw) {
  const summary = element("p", "summary");
  if (!progress.size) {
    summary.textContent = text.none;
    return summary;
  }
  const solved = [...progress.values()].filter((stage) => stage === "solved").length;
  const forget = Object.assign(element("button", "forget"), { type: "button", textContent: text.forget });
  forget.onclick = () => {
    keepProgress(new Map());
    draw();
  };
  summary.append(text.summary.replace("{opened}", progress.size).replace("{solved}", solved), " ", forget);
  return summary;
}

function drawCard({ slug, title, question, address, shapes }, stage, text, open) {
  const card = element("li", `card ${stage ?? ""}`);
  const link = Object.assign(element("a", ""), { href: address });
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in another window
    event.preventDefault();
    open(slug);
  };
  const said = element("span", "said");
  said.append(element("strong", "", title), element("span", "question", question));
  link.append(drawPicture(shapes), said);
  if (stage) link.append(element("span", "stage", text[stage]));
  card.append(link);
  return card;
}

// [kind, colour, strength, ...numbers] each, see small_pictures.py.
function drawPicture(shapes) {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 160 90", "aria-hidden": "true" })) picture.setAttribute(name, value);
  for (const [kind, colour, strength, ...numbers] of shapes) {
    const [tag, attributes] = DRAWN[kind](numbers);
    const drawn = picture.appendChild(document.createElementNS(picture.namespaceURI, tag));
    for (const [name, value] of Object.entries(attributes)) drawn.setAttribute(name, value);
    drawn.style[FILLED.includes(kind) ? "fill" : "stroke"] = `var(--${colour})`;
    drawn.style.opacity = strength;
  }
  return picture;
}

function element(tag, className, textContent = "") {
  return Object.assign(document.createElement(tag), { className, textContent });
}
