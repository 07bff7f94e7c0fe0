// Draws an animated part into a new element with a separate style sheet. Events of the part are ignored.
const rooms = Object.fromEntries([...document.querySelectorAll("template")].map((room) => [room.dataset.draws, room]));
const unpacked = (packed) => Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
const elementIn = (host) => host.shadowRoot.firstElementChild; // the element that a part draws into

function drawPart(parent, { name, data, packed }) {
  const host = document.createElement("div");
  parent.append(host);
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rooms[name].dataset.style);
  root.adoptedStyleSheets = [sheet];
  root.append(rooms[name].content.cloneNode(true));
  DRAWINGS[name]({ parentElement: root, data: data ?? unpacked(packed), setTriggerValue() {}, setStateValue() {} });
  return host;
}
