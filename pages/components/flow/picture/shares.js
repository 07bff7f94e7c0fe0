// Animates the softmax: a bar for each exponential, then all bars end to end as a stick of length 1.
// At the end of the animation, each key's row shows its segment of that stick.
import { between, blendTables, clamp, easeInOut, finite } from "../motion.js";
import { legible } from "../words.js";

/** @typedef {import("./picture.js").Drawn} Drawn */

/** @param {Drawn} picture */
export function drawShares(picture) {
  const { share, shares, numbers } = picture.snapshot;
  if (!picture.has(share.name) || picture.come(share) <= 0) return;
  const source = share.reads.find((name) => picture.has(name) && picture.byName.get(name)?.role === "pair");
  const scores = source ? numbers[source] : shares;
  const powers = powersOf(scores, shares);
  const power = picture.stage.motions.power ?? 1;
  const settled = picture.stage.motions.share ?? 1;
  const [lying, standing] = [easeInOut(clamp(settled / 0.5)), easeInOut(clamp((settled - 0.66) / 0.34))];
  let sum = 0;
  for (let row = 0; row < picture.rows; row++) {
    const comes = easeInOut(clamp(power * 1.25 - (0.25 * row) / picture.rows));
    const asPower = powerBox(picture, row, comes, source, scores, powers);
    const box = blendTables(blendTables(asPower, stickBox(picture, row, sum), lying), shareBox(picture, row), standing);
    sum += Math.abs(shares[row]);
    const attributes = { x: box.x, y: box.y, width: Math.max(0.6, box.width), height: Math.max(0.6, box.height) };
    const rx = Math.min(3 * picture.unit, box.height / 3, box.width / 3);
    const means = { part: share.name, row, m: 0 };
    picture.put(
      "shares", "rect", `share ${row}`,
      { ...attributes, rx, class: `share${shares[row] < 0 ? " taken" : ""}`, opacity: picture.nearness(row) },
      means,
    );
    if (lying > 0.6 && standing < 0.5 && box.width > 46 * picture.unit)
      drawSegmentWord(picture, row, box, clamp((lying - 0.6) * 4) * (1 - 2 * standing));
  }
  if (settled > 0 && standing < 1) drawRuler(picture, clamp(settled * 5) * (1 - standing));
}

// Returns the width in px of the stick of length 1 (all weights end to end), and of the longest exponential's bar.
function shareRoom(picture) {
  const { x, frame } = picture.layout;
  return Math.max(40, Math.min(frame.width - x[picture.snapshot.share.name] - 66 * picture.unit, 470 * picture.unit));
}

function powerBox(picture, row, comes, source, scores, powers) {
  const { x, w, rowY, rowHeight } = picture.layout;
  const height = Math.max(1, Math.min(17 * picture.unit, rowHeight[row] - 2));
  const end = x[picture.snapshot.share.name];
  const half = source ? w[source] / 2 : 0;
  const score = finite(scores[row]);
  const length = source ? clamp(Math.abs(score) / (picture.largest[source] || 1)) * picture.layout.bar : 0;
  const middle = source ? x[source] + half : end;
  return {
    x: between(score < 0 ? middle - length : middle, end, comes),
    y: rowY[row] - height / 2,
    width: between(length, powers[row] * shareRoom(picture), comes),
    height,
  };
}

function stickBox(picture, row, sum) {
  const [room, height] = [shareRoom(picture), 30 * picture.unit];
  const x = picture.layout.x[picture.snapshot.share.name] + sum * room;
  return { x, y: picture.layout.laneY - height / 2, width: Math.abs(picture.snapshot.shares[row]) * room, height };
}

function shareBox(picture, row) {
  const { x, w } = picture.layout;
  const height = Math.max(0.8, Math.abs(picture.snapshot.shares[row]) * picture.layout.stick);
  return {
    x: x[picture.snapshot.share.name], y: topOf(picture, row, height), width: w[picture.snapshot.share.name], height,
  };
}

/**
 * The y position of the top of a share or ribbon of this height: at its row, but inside the picture.
 * @param {Drawn} picture
 * @param {number} row
 * @param {number} height
 */
export function topOf(picture, row, height) {
  const { rowY, headHeight, frame } = picture.layout;
  return clamp(rowY[row] - height / 2, headHeight, frame.height - height - 1);
}

function drawSegmentWord(picture, row, box, opacity) {
  const [x, y, size] = [box.x + box.width / 2, box.y + box.height / 2 + 1, legible(17 * picture.unit)];
  const at = { x, y, "font-size": size, opacity };
  picture.put("texts", "text", `segment ${row}`, { ...at, class: "segment", text: picture.words[row] });
}

function drawRuler(picture, opacity) {
  const start = picture.layout.x[picture.snapshot.share.name];
  const [end, y, tick] = [start + shareRoom(picture), picture.layout.laneY + 21 * picture.unit, 5 * picture.unit];
  const d = `M${start},${y - tick}V${y + tick}M${start},${y}H${end}M${end},${y - tick}V${y + tick}`;
  picture.put("marks", "path", "ruler", { d, class: "ruler", opacity });
  [[start, "0"], [end, "1"]].forEach(([x, text]) => {
    const at = { x, y: y + 13 * picture.unit, "font-size": legible(14 * picture.unit), opacity };
    picture.put("texts", "text", `ruler ${text}`, { ...at, class: "aside middle", text });
  });
}

// Returns exp(score - largest score) for each key or, if the score is NaN, the key's weight / the largest weight.
function powersOf(scores, shares) {
  const top = scores.reduce((most, score) => Math.max(most, Number.isNaN(score) ? -Infinity : score), -Infinity);
  const most = Math.max(...shares) || 1;
  return Array.from(scores, (score, row) =>
    Number.isNaN(score) ? shares[row] / most : top === -Infinity ? 0 : Math.exp(score - top),
  );
}
