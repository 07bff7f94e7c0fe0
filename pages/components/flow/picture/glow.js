// What a change changed, outlined for a moment.
function drawGlow(picture, { rows, strength }) {
  const { x, w, rowY, rowHeight, laneY } = picture.layout;
  for (const part of picture.snapshot.parts) {
    if (!rows.has(part.name) || !picture.has(part.name)) continue;
    const isLane = part.role === "lane";
    const height = isLane ? 36 * picture.unit : Math.min(28 * picture.unit, Math.max(...rowHeight));
    for (const row of isLane ? [0] : rows.get(part.name)) {
      const y = isLane ? laneY : rowY[row];
      if (!isLane && rowHeight[row] < 12) continue;
      const box = { x: x[part.name] - 4 * picture.unit, y: y - height / 2, width: w[part.name] + 8 * picture.unit, height, rx: 6 * picture.unit };
      picture.shapes.put("marks", "rect", `glow ${part.name} ${row}`, { ...box, class: "glow", opacity: easeOut(strength) });
    }
  }
}
