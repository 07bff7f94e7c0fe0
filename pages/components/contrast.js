// Mixes colours, and computes the contrast ratio of two colours by WCAG 2.2.
import { channelsOf } from "./pixels.js";

/**
 * The red, green and blue of a partly transparent colour on another colour.
 * @param {string} colour as #rrggbb
 * @param {string} ground as #rrggbb
 * @param {number} share how much of the colour there is, from 0 to 1
 */
export function mixed(colour, ground, share) {
  const under = channelsOf(ground);
  return channelsOf(colour).map((channel, i) => Math.round(channel * share + under[i] * (1 - share)));
}

/**
 * Of two colours of text, the one that is more legible on a background.
 * @param {number[]} ground its red, green and blue
 * @param {[string, string]} colours
 */
export function readable(ground, [one, other]) {
  return contrast(ground, one) > contrast(ground, other) ? one : other;
}

function contrast(ground, colour) {
  const [dark, light] = [ground, channelsOf(colour)].map(luminance).sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(rgb) {
  const [red, green, blue] = rgb.map((channel) =>
    channel / 255 <= 0.04045 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
