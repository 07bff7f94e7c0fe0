// A way through the stages of a picture: a button that plays them, and a slider that scrubs them.
import { button, element } from "./dom.js";

/**
 * Makes the button and the slider of a player.
 * @param {{ at?: number, playing?: any }} state at: the stage; playing: a timer
 * @param {object} player
 * @param {{ play: string, pause: string, label: string }} player.text
 * @param {number} player.last
 * @param {number} player.time ms that each stage is shown
 * @param {(at: number, isStep: boolean) => string} player.draw draws a stage, and returns what is said of it; isStep:
 *   whether it follows the one before it
 * @param {(at: number) => number | undefined} [player.after] the stage behind another one
 * @param {() => void} [player.settled] called when a hand lets go, and at the end
 */
export function playerOf(
  state,
  { text, last, time, draw, after = (at) => (at < last ? at + 1 : undefined), settled = () => {} },
) {
  clearInterval(state.playing);
  state.playing = null;
  const range = element("input", "", { type: "range", min: 0, max: last, step: 1 });
  range.setAttribute("aria-label", text.label);
  range.dataset.place = "walk";
  const show = (at, isStep = false) => {
    state.at = at;
    range.value = at;
    range.setAttribute("aria-valuetext", draw(at, isStep));
  };
  const rest = () => {
    clearInterval(state.playing);
    state.playing = null;
    play.textContent = text.play;
  };
  const go = (at, isStep = false) => {
    rest();
    show(at, isStep);
    settled();
  };
  const step = () => {
    const next = after(state.at);
    if (!range.isConnected || next === undefined) rest();
    else if (after(next) === undefined) go(next, true);
    else show(next, true);
  };
  const begin = () => {
    if (after(state.at) === undefined) show(0);
    play.textContent = text.pause;
    state.playing = setInterval(step, time);
  };
  const play = button("play", { textContent: text.play }, () => (state.playing ? go(state.at) : begin()));
  play.dataset.place = "play";
  range.oninput = () => {
    rest();
    show(Number(range.value));
  };
  range.onchange = settled;
  return { play, range, show, go };
}
