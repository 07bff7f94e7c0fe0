// Prepares a page for paper while it is printed: pictures of a wide window become as wide as a sheet, and a page of the
// dark theme gets the colours of the light theme. The server could send these only later than the browser prints.
// The HTML document of the app contains this script, which runs once per document.
{
  const APP = '[data-testid="stApp"]';
  // Elements whose black and white mean numbers, and a page of printed notes, have the same colours in both themes.
  const OWN_COLOURS = ".painted .wall, .painted .wall *, .paper, .paper *";
  const CHART = '[data-testid="stVegaLiteChart"]';
  const GREY = /^#(..)\1\1$/; // in a chart with such cells, grey means a number, and the cells keep it and their texts
  const MAP_IMAGE = ".thumbnails img"; // small maps of numbers, one pixel per cell
  const SHEET_WIDTH = 1280; // px: so wide a page fits a sheet, at the size of page.css
  const sides = ["top", "right", "bottom", "left"];
  const ON_ALL = ["color", "background-color", "outline-color", ...sides.map((side) => `border-${side}-color`)];
  const ON_ALL_MIXED = ["background-image", "box-shadow", "text-shadow"]; // lists that contain colours
  const ON_SHAPES = ["fill", "stroke", "stop-color"];
  const HEX = /^#[0-9a-f]{6}$/i;
  const COMPUTED = /rgba?\([^)]*\)|color\(srgb [^)]*\)/g;

  // The colours of palette.py in the dark and in the light theme, written here because the document comes before torch.
  const COLOURS = {
    ground: ["#14171c", "#ffffff"],
    ink: ["#eceff3", "#1f2328"],
    faint: ["#3a3f47", "#d8dbe0"],
    outline: ["#fbbf24", "#d97706"],
    minus: ["#f25cb5", "#b5127e"],
    plus: ["#dfe3e8", "#343a42"],
    low: ["#241d30", "#f4f0f9"],
    high: ["#c9a2ff", "#4c1d80"],
    share: ["#c9a2ff", "#7b3fb5"],
    q: ["#6cb6ec", "#0067a5"],
    k: ["#ff9b57", "#b34700"],
    v: ["#3fcba4", "#00735a"],
    x: ["#aab0b8", "#5f6368"],
  };
  /** @type {(colour: string) => number[]} */
  const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const SCALES = [...Object.keys(COLOURS).map((name) => ["ground", name]), ["low", "high"]].map(([start, end]) => ({
    dark: [COLOURS[start][0], COLOURS[end][0]].map(channels),
    light: [COLOURS[start][1], COLOURS[end][1]].map(channels),
  }));
  const FARTHEST = 14; // of 255: a colour that is farther from all scales is none of the themes' mixtures

  const dot = (one, other) => one.reduce((sum, channel, i) => sum + channel * other[i], 0);
  const minus = (one, other) => one.map((channel, i) => channel - other[i]);
  /** @type {(ends: number[][], share: number) => number[]} */
  const between = ([start, end], share) => start.map((channel, i) => channel + (end[i] - channel) * share);

  // Returns a colour of the dark theme as the same mixture of two colours of the light theme.
  const lightened = (colour) => {
    let [nearest, found] = [Infinity, colour];
    for (const scale of SCALES) {
      const [start, end] = scale.dark;
      const way = minus(end, start);
      const share = Math.min(1, Math.max(0, dot(minus(colour, start), way) / (dot(way, way) || 1)));
      const away = minus(colour, between(scale.dark, share));
      const distance = Math.sqrt(dot(away, away));
      if (distance < nearest) [nearest, found] = [distance, between(scale.light, share)];
    }
    return (nearest <= FARTHEST ? found : turned(colour)).map(Math.round);
  };

  // Returns a colour with its hue and its saturation, but dark if it is light, and light if it is dark.
  const turned = (colour) => {
    const [most, least] = [Math.max(...colour), Math.min(...colour)];
    const lightness = (most + least) / 510;
    const wanted = (1 - lightness) ** 1.6; // a middle lightness becomes dark enough for a text on white
    const reach = (level) => 1 - Math.abs(2 * level - 1); // the largest difference of channels at a lightness
    const factor = reach(lightness) ? reach(wanted) / reach(lightness) : 1;
    return colour.map((channel) => 255 * wanted + (channel - 255 * lightness) * factor);
  };

  const known = new Map(); // colours of the dark theme as text -> those of the light theme
  /** @param {string} text a colour as a computed style writes it */
  const lightText = (text) => {
    if (!known.has(text)) {
      const numbers = text.replace("color(srgb", "").match(/[\d.]+(e-\d+)?/g)?.map(Number) ?? [];
      const rgb = numbers.slice(0, 3).map((number) => (text.startsWith("color") ? 255 * number : number));
      const alpha = numbers[3] ?? 1;
      known.set(text, alpha ? `rgba(${lightened(rgb).join(", ")}, ${alpha})` : text);
    }
    return known.get(text);
  };
  const lightValue = (value) => value.replace(COMPUTED, lightText);

  const greyCharts = new Map(); // chart -> whether it has grey cells
  /** @type {(element: Element) => boolean} */
  const isGreyMark = (element) => {
    if (!GREY.test(element.getAttribute("fill") ?? "")) return false;
    const chart = element.closest(CHART);
    if (chart && !greyCharts.has(chart)) {
      const cells = [...chart.querySelectorAll("path[fill]")];
      greyCharts.set(chart, cells.some((cell) => GREY.test(cell.getAttribute("fill") ?? "")));
    }
    return greyCharts.get(chart);
  };

  /** @type {(element: Element) => [name: string, value: string][]} */
  const readColours = (element) => {
    if (element.matches(OWN_COLOURS)) return [];
    const style = getComputedStyle(element);
    const names = [...ON_ALL, ...ON_ALL_MIXED, ...(element instanceof SVGElement ? ON_SHAPES : [])];
    const kept = isGreyMark(element) ? "fill" : "";
    return names.filter((name) => name !== kept).map((name) => [name, style.getPropertyValue(name)]);
  };

  /** @typedef {HTMLElement | SVGElement} Styled */
  /** @type {(root: Document | ShadowRoot) => Generator<Styled>} */
  function* elementsIn(root) {
    for (const element of root.querySelectorAll("body, body *, :host > *, :host > * *")) {
      if (element instanceof HTMLElement || element instanceof SVGElement) yield element;
      if (element.shadowRoot) yield* elementsIn(element.shadowRoot);
    }
  }

  /** @type {(() => void)[]} */
  let undoing = []; // functions that give back what was changed
  const change = ({ style }, name, value) => {
    const [before, priority] = [style.getPropertyValue(name), style.getPropertyPriority(name)];
    undoing.push(() => (before ? style.setProperty(name, before, priority) : style.removeProperty(name)));
    style.setProperty(name, value, "important");
  };

  const lightenCanvas = (canvas) => {
    const pen = canvas.getContext("2d");
    if (!pen || !canvas.width || !canvas.height) return;
    const before = pen.getImageData(0, 0, canvas.width, canvas.height);
    const picture = pen.getImageData(0, 0, canvas.width, canvas.height);
    const { data } = picture;
    const found = new Map(); // number of a colour -> its channels in the light theme
    for (let at = 0; at < data.length; at += 4) {
      if (!data[at + 3]) continue;
      const number = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
      if (!found.has(number)) found.set(number, lightened([data[at], data[at + 1], data[at + 2]]));
      data.set(found.get(number), at);
    }
    pen.putImageData(picture, 0, 0);
    undoing.push(() => pen.putImageData(before, 0, 0));
  };

  const lighten = () => {
    const app = document.querySelector(APP);
    if (undoing.length || !(app instanceof HTMLElement) || getComputedStyle(app).colorScheme !== "dark") return;
    const elements = [...elementsIn(document)];
    const before = elements.map(readColours);
    const moving = elements.filter((element) => getComputedStyle(element).transitionDuration !== "0s");
    for (const element of moving) change(element, "transition", "none"); // a colour that fades in comes too late
    change(app, "color-scheme", "light");
    for (const element of elements) {
      for (const name of [...element.style].filter((each) => each.startsWith("--"))) {
        const value = element.style.getPropertyValue(name).trim();
        const [dark, light] = COLOURS[name.slice(2)] ?? [];
        if (value === dark) change(element, name, light);
        else if (HEX.test(value)) change(element, name, lightText(`rgb(${channels(value).join(", ")})`));
      }
    }
    // What has changed now follows the theme by itself; the other colours are changed one by one.
    const after = elements.map(readColours);
    elements.forEach((element, i) => {
      const follows = new Map(after[i]);
      for (const [name, value] of before[i]) {
        if (follows.get(name) === value && lightValue(value) !== value) change(element, name, lightValue(value));
      }
    });
    for (const element of elements) {
      if (element instanceof HTMLCanvasElement) lightenCanvas(element);
      else if (element.matches(MAP_IMAGE)) change(element, "filter", "invert(1) hue-rotate(180deg)");
    }
  };

  window.addEventListener("beforeprint", () => {
    document.documentElement.style.setProperty("--print-zoom", String(Math.min(1, SHEET_WIDTH / window.innerWidth)));
    lighten();
  });
  window.addEventListener("afterprint", () => {
    for (const undo of undoing.reverse()) undo();
    undoing = [];
  });
}
