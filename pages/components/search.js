// Shows the search over the whole app: a button, and a dialog with a field, for mouse and keyboard.
// The search runs in the browser and never parses typed text as HTML. Its first opening fetches the entries:
// data.findable is the address of a module whose default export is the list of entries.
import { isTyping } from "./belongs.js";
import { element, linkTo, setColours, stateOf, svgShape } from "./dom.js";
import { find, makeIndex } from "./find.js";

/** @param {import("./shared.js").Component<any>} component data: of show_search in pages/panels/toolbar.py */
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".search");
  setColours(root, data.palette);
  const view = stateOf(root, () => build(root));
  const { opener, dialog, field, status, list } = view;
  label(view, data.text);
  let chosen = 0;

  const choose = (number) => {
    dialog.close();
    setTriggerValue("chosen", number);
  };
  const mark = (place) => {
    const options = [...list.children];
    chosen = Math.max(0, Math.min(place, options.length - 1));
    options.forEach((option, at) => (option.ariaSelected = String(at === chosen)));
    field.setAttribute("aria-activedescendant", options[chosen]?.id ?? "");
    options[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const draw = () => {
    const { index } = view;
    if (!index) return; // nothing to show until the index is loaded
    const found = find(index, field.value, data.page);
    list.replaceChildren(...found.map((number) => drawResult(index[number], data, choose)));
    status.textContent = describe(field.value, found.length, data.text);
    field.ariaExpanded = String(found.length > 0);
    mark(0);
  };
  const open = async () => {
    if (dialog.open) return;
    // An open popover is closed before the choice is sent: of two messages at once, the server gets only one.
    const opened = document.querySelector("[data-testid=stPopoverButton][aria-expanded=true]");
    if (opened instanceof HTMLElement) opened.click();
    dialog.showModal();
    field.select();
    view.isEntered = false;
    if (view.index) return;
    const { default: findable } = await import(data.findable);
    view.index = makeIndex(findable);
    const { isEntered } = view;
    field.oninput();
    if (isEntered && dialog.open) list.querySelector("a")?.click();
  };

  opener.onclick = open;
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close(); // a click outside the dialog closes it
  };
  field.oninput = () => {
    view.isEntered = false;
    draw();
  };
  field.onkeydown = (event) => {
    if (event.isComposing || event.keyCode === 229) return; // a Chinese input method handles the key
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way) mark(chosen + way);
    else if (event.key === "Enter" && !view.index) view.isEntered = true;
    else if (event.key === "Enter") list.children[chosen]?.querySelector("a").click();
    else return;
    event.preventDefault();
  };
  draw();

  const pressed = (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event, "select")) return;
    event.preventDefault();
    open();
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}

// Builds the elements that stay in the page between calls of the component.
function build(root) {
  const glass = svgShape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, [
    svgShape("path", { d: "M15.5 15.5 L21 21 M10 3.5 a6.5 6.5 0 1 1 0 13 a6.5 6.5 0 1 1 0 -13" }),
  ]);
  const opener = element("button", "open tool-button", { type: "button", ariaKeyShortcuts: "/" }, [glass]);
  const field = element("input", "field", {
    type: "text", autocomplete: "off", spellcheck: false, maxLength: 80, role: "combobox", ariaAutoComplete: "list",
    ariaExpanded: "false",
  });
  field.setAttribute("aria-controls", "found");
  const status = element("p", "status", { role: "status" });
  const list = element("ul", "list", { id: "found", role: "listbox" });
  const dialog = element("dialog", "window", [field, status, list]);
  root.replaceChildren(opener, dialog);
  // isEntered: Enter was pressed before the index was loaded; the first result is then opened after loading.
  return { opener, dialog, field, status, list, index: null, isEntered: false };
}

function label({ opener, dialog, field, list }, text) {
  opener.title = text.open;
  for (const part of [opener, dialog, field]) part.ariaLabel = text.open;
  list.ariaLabel = text.results;
  field.placeholder = text.typed;
}

function describe(typed, count, text) {
  if (!typed.trim()) return "";
  return count ? text.found.replace("{count}", count) : text.nothing;
}

function drawResult({ number, kind, slug, address, query, shown, details, sign }, { language, page, kinds }, choose) {
  const title = element("strong", "", shown[language]);
  if (sign) title.append(element("span", "sign", sign));
  const detail = details[language] === shown[language] ? "" : details[language];
  const link = linkTo(`${address}?${query ? `${query}&` : ""}lang=${language}`, () => choose(number), [
    element("span", "kind", kinds[kind]), title, element("span", "detail", detail),
  ]);
  link.tabIndex = -1;
  // reloads the page, which reads a link only when it is loaded
  if (page === slug && kind !== "control") link.onclick = null;
  return element("li", "result", { id: `found_${number}`, role: "option" }, [link]);
}
