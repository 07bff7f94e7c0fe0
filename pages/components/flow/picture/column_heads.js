// Over a column: its sign and its name, which open the step, or the product that it comes of.
function drawHead(picture, part, share) {
  const { x, w, headHeight, folded, frame, zoom } = picture.layout;
  const isFolded = folded.has(part.name);
  const middle = x[part.name] + w[part.name] / 2;
  const comes = clamp(share * 4) * (part.is_share ? clamp((picture.stage.motions.share ?? 1) * 4 - 2.4) : 1);
  const lit = picture.isActive(part) ? " lit" : "";
  const sign = { x: middle, y: headHeight - 31 * picture.unit, "font-size": (isFolded ? 15 : 19) * picture.unit };
  const opens = { head: part.opens };
  picture.shapes.put("texts", "text", `sign ${part.name}`, { ...sign, opacity: comes, class: `sign ${part.family}${lit}`, text: part.sign }, opens);
  if (isFolded || frame.compact || zoom < SMALL) return; // no room for names
  const name = { x: middle, y: headHeight - 12 * picture.unit, "font-size": 13.5 * picture.unit };
  picture.shapes.put("texts", "text", `name ${part.name}`, { ...name, opacity: comes, class: `name${lit}`, text: part.label }, opens);
}
