// A way through the stages of a picture: a button that plays them, and a slider that scrubs them; root.at is the stage.
// text: { play, pause, label }. time: ms that each stage is shown. draw(at, isStep): draws a stage, and returns what is
// told of it; isStep: it follows the one before. after(at): the stage behind it, undefined behind the last. settled():
// called when a hand or the end comes to rest.
import { button, element } from "./dom.js";

export function playerOf(
  root,
  { text, last, time, draw, after = (at) => (at < last ? at + 1 : undefined), settled = () => {} },
) {
  clearInterval(root.playing);
  root.playing = null;
  const range = element("input", "", { type: "range", min: 0, max: last, step: 1 });
  range.setAttribute("aria-label", text.label);
  range.dataset.place = "walk";
  const show = (at, isStep = false) => {
    root.at = at;
    range.value = at;
    range.setAttribute("aria-valuetext", draw(at, isStep));
  };
  const rest = () => {
    clearInterval(root.playing);
    root.playing = null;
    play.textContent = text.play;
  };
  const go = (at, isStep = false) => {
    rest();
    show(at, isStep);
    settled();
  };
  const step = () => {
    const next = after(root.at);
    if (!range.isConnected || next === undefined) rest();
    else if (after(next) === undefined) go(next, true);
    else show(next, true);
  };
  const begin = () => {
    if (after(root.at) === undefined) show(0);
    play.textContent = text.pause;
    root.playing = setInterval(step, time);
  };
  const play = button("play", { textContent: text.play }, () => (root.playing ? go(root.at) : begin()));
  play.dataset.place = "play";
  range.oninput = () => {
    rest();
    show(Number(range.value));
  };
  range.onchange = settled;
  return { play, range, show, go };
}
