// Unpacks the bytes of maps, and draws their cells as pixels of an image.
export const BLOCKED = 255; // the palette index of blocked cells, which are hatched

/**
 * Unpacks the bytes of pack_bytes (pages/components): a length, a JSON text, and then the values that are bytes, each
 * beginning at a multiple of 4.
 * @param {Uint8Array} bytes
 * @returns {any} the dictionary
 */
export function unpacked(bytes) {
  const whole = bytes.slice(); // the copy's bytes start at 0, so that the numbers are aligned
  const length = new DataView(whole.buffer).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
  const next = (place) => Math.ceil(place / 4) * 4;
  let place = next(4 + length);
  for (const [name, size] of Object.entries(data.bytes)) {
    data[name] = whole.subarray(place, place + size);
    place = next(place + size);
  }
  return data;
}

/** The 32-bit floats that bytes of unpacked() consist of. @param {Uint8Array | Float32Array} bytes */
export const floatsOf = (bytes) => new Float32Array(bytes.slice().buffer);

/** @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} */
export const penOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/**
 * Returns a canvas with one pixel per cell; blocked cells stay transparent, so that the hatching below is visible.
 * @param {Uint8Array} cells the colour number of each cell
 * @param {number} rows
 * @param {number} columns
 * @param {string[]} fills the colour of each colour number, as #rrggbb
 */
export function pixels(cells, rows, columns, fills) {
  const image = document.createElement("canvas");
  image.width = columns;
  image.height = rows;
  const pen = penOf(image);
  const picture = pen.createImageData(columns, rows);
  const colours = Uint32Array.from(fills, (fill, number) => {
    const [red, green, blue] = channelsOf(fill);
    return number === BLOCKED ? 0 : (255 << 24) | (blue << 16) | (green << 8) | red;
  });
  const drawn = new Uint32Array(picture.data.buffer);
  cells.forEach((cell, i) => (drawn[i] = colours[cell]));
  pen.putImageData(picture, 0, 0);
  return image;
}

/**
 * The red, green and blue values of a colour written as #rrggbb.
 * @param {string} colour
 * @returns {number[]}
 */
export function channelsOf(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/**
 * Draws parallel lines down to the right over a rectangle, `gap` apart, one of them through the point (x0, y0).
 * @type {(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, x0: number, y0: number,
 *   gap: number, colour: string) => void}
 */
export function hatch(pen, x, y, width, height, x0, y0, gap, colour) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.globalAlpha = 0.45;
  pen.strokeStyle = colour;
  pen.beginPath();
  const offset = x0 - y0; // a line of the hatching has a constant x - y
  for (let n = Math.floor((x - y - height - offset) / gap); offset + n * gap <= x + width - y; n++) {
    pen.moveTo(offset + n * gap + y, y);
    pen.lineTo(offset + n * gap + y + height, y + height);
  }
  pen.stroke();
  pen.restore();
}
