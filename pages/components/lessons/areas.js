// What all pairs cost, a square as wide and high as there are tokens, beside what each token costs, a stripe as high. Both
// have one scale: an area is a number of multiply-adds. data: as of followSlider, and { lengths, pairs, tokens, told,
// palette, alt }. pairs, tokens: multiply-adds at each position. told: what is said of both there, a line each.
const LARGEST = 240; // px: the side of the square of the largest length

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".areas");
  for (const name of ["ink", "share", "x"]) root.style.setProperty(`--${name}`, data.palette[name]);
  root.style.setProperty("--largest", `${LARGEST}px`);
  root.setAttribute("aria-label", data.alt);
  if (!root.parts) root.parts = ["pairs", "tokens"].map((name) => build(root, name));
  followSlider(root, data, (position) => draw(root, position));
}

function build(root, name) {
  const part = element("div", `part ${name}`);
  const [place, area, told] = [element("div", "place"), element("div", "area"), element("div", "told")];
  area.append(element("div", "half")); // at half the length
  place.append(area);
  part.append(place, told);
  root.append(part);
  return { area, told };
}

function draw({ parts: [square, stripe], data }, position) {
  const { lengths, pairs, tokens, told } = data;
  const side = (LARGEST * lengths[position]) / Math.max(...lengths);
  size(square.area, side, side);
  size(stripe.area, (side * tokens[position]) / pairs[position], side);
  [square, stripe].forEach((part, i) => part.told.replaceChildren(...told[position][i].map((text) => element("p", "", { textContent: text }))));
}

function size(area, width, height) {
  Object.assign(area.style, { width: `${width}px`, height: `${height}px` });
}
