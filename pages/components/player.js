// Makes a player for the stages of a picture: a button plays them, a slider moves between them.
import { button, element } from "./dom.js";

/**
 * Creates the button and the slider of a player, and returns them with the functions show(at) and go(at).
 * @param {{ at: number, playing?: any }} state at: the current stage; playing: the timer, null while paused
 * @param {object} player
 * @param {{ play: string, pause: string, label: string }} player.text
 * @param {number} player.last
 * @param {number} player.time ms that each stage is shown
 * @param {(at: number, isStep: boolean) => string} player.draw draws a stage, and returns its text for the slider;
 *   isStep: whether the stage is reached by playing from the previous stage
 * @param {(at: number) => number | undefined} [player.after] the stage after a stage; undefined after the last one
 * @param {() => void} [player.settled] called when the slider is released, and when playing stops
 */
export function playerOf(
  state,
  { text, last, time, draw, after = (at) => (at < last ? at + 1 : undefined), settled = () => {} },
) {
  clearInterval(state.playing);
  state.playing = null;
  const range = element("input", "", {
    type: "range", min: 0, max: last, step: 1, ariaLabel: text.label, place: "walk",
  });
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
