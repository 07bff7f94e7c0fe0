// When the page came to rest after a click, a key or a chosen file. Pixels are what changed in the document, in a shadow tree or on a
// canvas of the main part, two frames later; and the script's state must have gone back to "not running" as well.
(() => {
  const seen = { asked: Infinity, painted: 0, finished: 0 };
  window.seen = seen;
  const isMain = (node) => {
    for (let at = node; at; at = at.getRootNode().host) {
      const element = at.closest ? at : at.parentElement;
      if (element?.closest("[data-testid=stMain]")) return true;
    }
    return false;
  };
  let awaited = false; // one frame for all changes before it
  const changed = () => {
    if (awaited) return;
    awaited = true;
    requestAnimationFrame(() => {
      awaited = false;
      requestAnimationFrame(() => (seen.painted = performance.now()));
    });
  };
  const isState = (record) => record.attributeName === "data-test-script-state";
  const watch = new MutationObserver((records) => {
    if (records.some(isState)) seen.finished = performance.now();
    if (!awaited && records.some((record) => !isState(record) && isMain(record.target))) changed();
  });
  const everything = { subtree: true, childList: true, characterData: true, attributes: true };
  watch.observe(document, everything);
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    watch.observe(root, everything);
    return root;
  };
  for (const name of ["putImageData", "drawImage", "fillRect"]) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      if (isMain(this.canvas)) changed();
      return draw.apply(this, given);
    };
  }
  window.arm = () => {
    Object.assign(seen, { asked: Infinity, painted: 0, finished: 0 });
    const note = (event) => (seen.asked = Math.min(seen.asked, event.timeStamp));
    ["pointerup", "keydown", "change"].forEach((kind) => window.addEventListener(kind, note, { capture: true, once: true }));
  };
  // A run so short that no frame saw it running has changed nothing but the pixels.
  window.atRest = (quiet) =>
    seen.painted > seen.asked &&
    document.querySelector("[data-test-script-state=notRunning]") !== null &&
    performance.now() - Math.max(seen.painted, seen.finished) > quiet;
})();
