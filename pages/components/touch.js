// Tells whether the visitor's main pointer is a finger, and chooses between hints for a keyboard and for a finger.
export const isTouch = () => matchMedia("(pointer: coarse)").matches;

/**
 * The text with the suffix "_touch" on a touch screen, if there is one, else the text without it.
 * @param {Record<string, any>} texts
 * @param {string} name
 * @returns {string}
 */
export const hintOf = (texts, name) => (isTouch() && texts[`${name}_touch`]) || texts[name];
