// Marks the page's main element while it has the focus by a key: after a click, page.css draws no focus ring, not even
// when a key follows. The HTML document contains this script, which runs once.
{
  const MARK = "data-by-keys";
  let byKeys = false; // whether the visitor's last action was a key press
  const isMain = (target) => target instanceof Element && target.matches("main");
  window.addEventListener("keydown", () => (byKeys = true), true);
  window.addEventListener(
    "pointerdown",
    () => {
      byKeys = false;
      document.querySelector("main")?.removeAttribute(MARK);
    },
    true,
  );
  window.addEventListener("focusin", ({ target }) => isMain(target) && target.toggleAttribute(MARK, byKeys));
}
