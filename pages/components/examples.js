// Draws the examples: a dozen in groups with pictures or, for typed words, those that match the words.
import { element, keepFocus, linkTo, setColours, stateOf } from "./dom.js";
import { find, makeIndex } from "./find.js";
import { filled } from "./printed.js";
import { drawPicture } from "./small_picture.js";

const FIELD = "43 5 74 80"; // the rectangle of a picture that the map of an example fills

/**
 * @typedef {object} Example
 * @property {string} name
 * @property {string} title
 * @property {string} detail
 * @property {any[][]} shapes its small map of weights
 */

/**
 * @typedef {object} Examples
 * @property {{ title: string, examples: Example[] }[]} groups
 * @property {{ name: string, titles: Record<string, string>, details: Record<string, string>, sign: "" }[]} all
 * @property {string} current the name of the example on the screen
 * @property {boolean} changed whether its settings were changed
 * @property {string} language
 * @property {Record<string, string>} text
 * @property {Record<string, string>} palette
 */

/** @param {import("./shared.js").Component<Examples>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".examples");
  setColours(root, data.palette);
  const { field, status, shown } = stateOf(root, () => build(root, data.text));
  /** @type {any[]} */
  const index = makeIndex(data.all);
  // A click on the current example opens it again only if the browser shows it as changed.
  const open = (name) => setTriggerValue("chosen", { name, again: name === data.current && data.changed });

  const draw = () => {
    const restoreFocus = keepFocus(root);
    const found = find(index, field.value);
    const isTyped = field.value.trim() !== "";
    const told = found.length ? filled(data.text.found, { count: found.length }) : data.text.nothing;
    status.textContent = isTyped ? told : data.text.now;
    const groups = data.groups.map((group) => drawGroup(group, data, open));
    const results = found.map((number) => drawFound(index[number], data, open));
    shown.className = isTyped ? "found" : "groups";
    shown.replaceChildren(...(isTyped ? results : groups));
    restoreFocus();
  };
  field.oninput = draw;
  field.onkeydown = (event) => {
    if (event.isComposing || event.keyCode === 229) return; // a Chinese input method handles the key
    if (event.key === "Enter") shown.querySelector(".found > a")?.click();
  };
  draw();
}

// Builds the elements that stay on the page between calls of the component.
function build(root, text) {
  const field = element("input", "field", {
    type: "search", autocomplete: "off", spellcheck: false, maxLength: 80, placeholder: text.search,
    ariaLabel: text.search,
  });
  const status = element("p", "status", { role: "status" });
  const shown = element("div");
  root.replaceChildren(element("div", "line", [field, status]), shown);
  if (matchMedia("(pointer: fine)").matches) requestAnimationFrame(() => field.focus({ preventScroll: true }));
  return { field, status, shown };
}

/** @type {(group: { title: string, examples: Example[] }, data: Examples, open: (name: string) => void) => Element} */
function drawGroup({ title, examples }, data, open) {
  const cards = examples.map((example) => {
    const picture = drawPicture(example.shapes);
    picture.setAttribute("viewBox", FIELD);
    return drawLink(example, data, open, [picture]);
  });
  return element("section", "", { ariaLabel: title }, [element("h3", "", title), ...cards]);
}

function drawFound({ name, shown, details }, data, open) {
  return drawLink({ name, title: shown[data.language], detail: details[data.language] }, data, open);
}

function drawLink({ name, title, detail }, data, open, parts = []) {
  const isCurrent = name === data.current;
  const said = element("span", "said", [element("strong", "", title), element("span", "detail", detail)]);
  if (isCurrent && data.changed) said.append(element("span", "again", data.text.again));
  const link = linkTo(`./?ex=${name}&lang=${data.language}`, () => open(name), [...parts, said]);
  link.dataset.place = name;
  if (isCurrent) link.ariaCurrent = "true";
  return link;
}
