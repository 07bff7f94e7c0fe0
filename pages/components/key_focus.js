// Marks the page's main part while it has the focus by a key: a click on it is no reason for a ring, nor is the next
// key. The document brings this script, and it runs once.
{
  const MARK = "data-by-keys";
  let byKeys = false; // whether the visitor's last act was a key
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
