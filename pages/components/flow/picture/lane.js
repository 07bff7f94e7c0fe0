// Draws each key's word, and the query's lane, that is, the query's vectors at the left and the output at the right.
import { classes } from "../../dom.js";
import { clamp } from "../motion.js";
import { legible, shortened, textWidth } from "../words.js";

/** @typedef {import("./picture.js").Drawn} Drawn */

const CUT_SLACK = 5; // px: a word with less free width would be cut off
const LEAST_WORD = 9; // px: rows in which a font of this size does not fit have no words

/** @param {Drawn} picture */
export function drawLane(picture) {
  const { laneY, laneHeight, frame } = picture.layout;
  const box = {
    x: 0, y: laneY - laneHeight / 2 + 3 * picture.unit, width: frame.width, height: laneHeight - 6 * picture.unit,
  };
  picture.put("lane", "rect", "lane", { ...box, rx: 12 * picture.unit, class: "lane" });
  if (!frame.crossed) drawPill(picture, box);
  const size = legible(Math.min(24, 20 * picture.unit));
  const at = { x: 10 * picture.unit, y: laneY, "font-size": frame.crossed ? size : legible(15 * picture.unit) };
  picture.put("texts", "text", "asks", {
    ...at, class: frame.crossed ? "word asking" : "aside", text: picture.lane,
  });
}

// Draws a rounded box around the query's word and the left end of the query's lane below it.
function drawPill(picture, lane) {
  const { rowY, rowHeight, laneBehind, frame } = picture.layout;
  const margin = clamp((rowHeight[laneBehind] - 26 * picture.unit) / 2, 0, 2 * picture.unit); // none in a low row
  const top = rowY[laneBehind] - rowHeight[laneBehind] / 2 + margin;
  const box = { x: 0, y: top, width: frame.wordWidth, height: Math.max(0, lane.y + lane.height - top) };
  picture.put("lane", "rect", "pill", { ...box, rx: 12 * picture.unit, class: "pill" });
}

/** @param {Drawn} picture */
export function drawWords(picture) {
  const { rowY, rowHeight, laneBehind, frame, x } = picture.layout;
  const wordRoom = frame.wordWidth - 18 * picture.unit;
  const restRoom = (x[picture.snapshot.share.name] ?? frame.width) - 18 * picture.unit; // its row has no vectors
  for (let row = 0; row < picture.rows; row++) {
    const asks = !frame.crossed && row === laneBehind;
    const isHovered = picture.hovered === row;
    const word = picture.words[row];
    const room = picture.isRest(row) ? restRoom : wordRoom;
    const usual = Math.min(frame.wordSize, rowHeight[row] * 0.76);
    const wanted = asks || isHovered ? Math.max(usual, 20) : usual;
    const size = legible(Math.min(wanted, (room - CUT_SLACK) / textWidth(word, 1, 700)));
    const look = classes("word", asks && "asking", picture.isMarked(row) && "marked");
    const fades = picture.hovered === null || isHovered || asks ? 1 : 0.28;
    const lowered = asks ? Math.max(0, size - rowHeight[row]) / 2 : 0; // so that it clears the row above
    const at = { x: 10 * picture.unit, y: rowY[row] + lowered, "font-size": size, opacity: fades };
    const text = shortened(word, room, size, 700);
    if (wanted >= LEAST_WORD) picture.put("texts", "text", `word ${row}`, { ...at, class: look, text });
    const box = { x: 0, y: rowY[row] - rowHeight[row] / 2, width: frame.wordWidth, height: rowHeight[row] };
    picture.put("hits", "rect", `word ${row}`, { ...box, class: "hit", title: picture.titleOf(row) }, { word: row });
  }
}

/** Draws the word of the query with a prime at the end of its lane, as the output. @param {Drawn} picture */
export function drawAnswer(picture) {
  const last = picture.layout.parts.filter((part) => part.role === "lane" && part.after).at(-1);
  if (!last) return;
  const { x, w, laneY } = picture.layout;
  const at = {
    x: x[last.name] + w[last.name] + 12 * picture.unit, y: laneY, "font-size": legible(Math.min(24 * picture.unit, 30)),
  };
  picture.put("texts", "text", "answer", {
    ...at, class: "word asking", text: `${picture.asking}′`, opacity: clamp(picture.come(last) * 3 - 2),
  });
}
