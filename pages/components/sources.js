// Names the steps from which the operands of an arithmetic come, in the colours that the operands have.
import { element } from "./dom.js";

/**
 * @param {object} arithmetic
 * @param {{ text: string, family: string }[]} arithmetic.sources the steps; none if all operands come from one step
 * @param {string} arithmetic.from the word before their names
 * @returns {HTMLElement[]}
 */
export function sourcesOf({ sources, from }) {
  if (!sources.length) return [];
  const names = sources.map(({ text, family }) => element("span", `source ${family}`, written(text)));
  return [element("span", "sources", [`${from} `, ...names])];
}

// Writes a name such as w_q as a letter with an index.
function written(name) {
  const [, letter, index] = name.match(/^(.)_(\w{1,2})$/) ?? [];
  return letter ? [letter, element("sub", "", index)] : [name];
}
