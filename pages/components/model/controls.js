// Functions for the panels of a language model: sliders that act during a drag, and the softmax of logits.
// The softmax applies temperature, top-k and top-p.
import { element } from "../dom.js";
import { lastOf } from "../flow/twin.js";

/**
 * Creates a slider with its name and its number.
 * @param {object} slider
 * @param {string} slider.name its data-place, by which it keeps the focus
 * @param {string} slider.label
 * @param {Record<string, any>} slider.range its min, max and step
 * @param {number} slider.place its position
 * @param {(place: number) => any} slider.numberAt the number at a position
 * @param {(number: any) => string} slider.spell
 * @param {(number: any) => void} slider.drag called while it moves
 * @param {(number: any) => void} slider.done called when it is released
 */
export function slider({ name, label, range, place, numberAt, spell, drag, done }) {
  const input = element("input", "", { type: "range", ...range, value: place, ariaLabel: label, place: name });
  const output = element("output");
  const tell = () => {
    output.textContent = spell(numberAt(Number(input.value)));
    input.ariaValueText = output.textContent;
  };
  input.oninput = () => {
    tell();
    drag(numberAt(Number(input.value)));
  };
  input.onchange = () => done(numberAt(Number(input.value)));
  tell();
  return element("label", "heat", [element("span", "", label), output, input]);
}

/**
 * Creates a slider of the temperature on a logarithmic scale.
 * @param {{ value: number, ends: number[], label: string }} temperature
 * @param {(number: number) => void} drag called while it moves
 * @param {(number: number) => void} done called when it is released
 */
export function temperatureSlider({ value, ends: [least, most], label }, drag, done) {
  return slider({
    name: "temperature",
    label,
    place: Math.log(value / least) / Math.log(most / least),
    range: { min: 0, max: 1, step: 0.001 },
    numberAt: (place) => Number((least * (most / least) ** place).toPrecision(2)),
    spell: String,
    drag,
    done,
  });
}

/**
 * The softmax of logits divided by a temperature, over the logits that top-k and then top-p keep; 0 for the others.
 * @param {ArrayLike<number>} logits
 * @param {{ temperature?: number, topK?: number | null, topP?: number }} [choices] topK: null keeps all
 * @returns {Float64Array}
 */
export function sharesOf(logits, { temperature = 1, topK = null, topP = 1 } = {}) {
  const falling = Float64Array.from(logits).sort().reverse();
  const power = (logit) => Math.exp((logit - falling[0]) / temperature);
  const total = (from) => from.reduce((sum, logit) => sum + power(logit), 0);
  const least = topK ? falling[Math.min(topK, falling.length) - 1] : -Infinity;
  let left = falling.filter((logit) => logit >= least);
  if (topP < 1) {
    const most = topP * total(left);
    let held = 0;
    const likeliest = left.filter((logit) => {
      const stays = held < most;
      held += power(logit);
      return stays;
    });
    left = left.filter((logit) => logit >= lastOf(likeliest)); // logits that equal the last kept one stay, too
  }
  const whole = total(left);
  return Float64Array.from(logits, (logit) => (logit >= lastOf(left) ? power(logit) / whole : 0));
}
