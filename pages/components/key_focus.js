// Marks the page's main element while it has the focus because of a key; page.css draws a focus ring only then.
// The HTML document of the app contains this script, which runs once per document.
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
