// The search over the whole app: a button and a dialog with a field, by mouse or keyboard. It runs in the browser;
// typed text is never parsed as HTML. The entries are fetched when the dialog first opens: data.findable is the address
// of a module whose default export is the list of entries.
import { addedShape, element, setAttributes, setColours, svgShape } from "./dom.js";
import { find, makeIndex } from "./find.js";

const TYPED_INTO =
  "input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select, [contenteditable=true]";
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".search");
  setColours(root, data.palette);
  root.view ??= build(root);
  const { button, dialog, field, status, list } = root.view;
  label(root.view, data.text);
  let chosen = 0;

  const choose = (number) => {
    dialog.close();
    setTriggerValue("chosen", number);
  };
  const mark = (place) => {
    const options = [...list.children];
    chosen = Math.max(0, Math.min(place, options.length - 1));
    options.forEach((option, at) => option.setAttribute("aria-selected", at === chosen));
    field.setAttribute("aria-activedescendant", options[chosen]?.id ?? "");
    options[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const draw = () => {
    const { index } = root.view;
    if (!index) return; // still loading
    const found = find(index, field.value);
    list.replaceChildren(...found.map((number) => drawResult(index[number], data, choose)));
    status.textContent = describe(field.value, found.length, data.text);
    field.setAttribute("aria-expanded", found.length > 0);
    mark(0);
  };
  const open = async () => {
    if (dialog.open) return;
    dialog.showModal();
    field.select();
    if (root.view.index) return;
    const { default: findable } = await import(data.findable);
    root.view.index = makeIndex(findable);
    field.oninput();
  };

  button.onclick = open;
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close(); // a click beside the window
  };
  field.oninput = draw;
  field.onkeydown = (event) => {
    if (event.isComposing || event.keyCode === 229) return; // the key belongs to a Chinese input method
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way) mark(chosen + way);
    else if (event.key === "Enter") list.children[chosen]?.querySelector("a").click();
    else return;
    event.preventDefault();
  };
  draw();

  const pressed = (event) => {
    const [target] = event.composedPath();
    if (
      event.key !== "/" ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.isComposing ||
      target.matches?.(TYPED_INTO)
    )
      return;
    event.preventDefault();
    open();
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}

// Builds the elements that stay in the page between calls of the component.
function build(root) {
  const button = element("button", "open", { type: "button" });
  button.setAttribute("aria-keyshortcuts", "/");
  button.append(drawGlass());
  const dialog = element("dialog", "window");
  const field = element("input", "field", {
    type: "text", autocomplete: "off", spellcheck: false, maxLength: 80,
  });
  const status = element("p", "status");
  const list = element("ul", "list", { id: "found" });
  list.setAttribute("role", "listbox");
  status.setAttribute("role", "status");
  setAttributes(field, {
    role: "combobox", "aria-controls": "found", "aria-autocomplete": "list", "aria-expanded": false,
  });
  dialog.append(field, status, list);
  root.replaceChildren(button, dialog);
  return { button, dialog, field, status, list, index: null };
}

function label({ button, dialog, field, list }, text) {
  button.title = text.open;
  for (const part of [button, dialog, field]) part.setAttribute("aria-label", text.open);
  list.setAttribute("aria-label", text.results);
  field.placeholder = text.typed;
}

function describe(typed, count, text) {
  if (!typed.trim()) return "";
  return count ? text.found.replace("{count}", count) : text.nothing;
}

function drawResult({ number, kind, slug, address, query, shown, details, sign }, { language, page, kinds }, choose) {
  const result = element("li", "result", { id: `found_${number}` });
  result.setAttribute("role", "option");
  const link = element("a", "", { tabIndex: -1 });
  link.href = `${address}?${query ? `${query}&` : ""}lang=${language}`;
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // the browser opens another window
    if (page === slug && kind !== "control") return; // this page reads a link only if the browser loads it again
    event.preventDefault();
    choose(number);
  };
  const title = element("strong", "", shown[language]);
  if (sign) title.append(element("span", "sign", sign));
  const detail = details[language] === shown[language] ? "" : details[language];
  link.append(element("span", "kind", kinds[kind]), title, element("span", "detail", detail));
  result.append(link);
  return result;
}

function drawGlass() {
  const picture = svgShape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  addedShape(picture, "path", { d: "M15.5 15.5 L21 21 M10 3.5 a6.5 6.5 0 1 1 0 13 a6.5 6.5 0 1 1 0 -13" });
  return picture;
}
