// Sliders that answer while they are dragged. Streamlit's own says what it is only when it is let go.
class Sliders {
  // drag: told of each value on the way. release: told of the value at which the hand rests.
  constructor(root, { drag, release }) {
    Object.assign(this, { root, drag, release });
    this.made = new Map();
  }

  // sliders: { field, label, least, most, value, step, parameter }: from least to most by equal ratios; a value is a
  // parameter of a step.
  show(sliders) {
    for (const slider of sliders) {
      if (!this.made.has(slider.field)) this.made.set(slider.field, this.make(slider));
      const { input, shown } = this.made.get(slider.field);
      Object.assign(input, { min: 0, max: 1, step: 0.001, slider });
      input.value = Math.log(slider.value / slider.least) / Math.log(slider.most / slider.least);
      shown.textContent = spellSetting(slider.value);
    }
  }

  make({ field, label }) {
    const line = added(this.root, "label", "slider");
    added(line, "span", "").textContent = label;
    const input = line.appendChild(Object.assign(document.createElement("input"), { type: "range", name: field }));
    const shown = added(line, "output", "");
    input.oninput = () => {
      const value = settingAt(input);
      shown.textContent = spellSetting(value);
      this.drag(input.slider, value);
    };
    input.onchange = () => this.release(input.slider, settingAt(input));
    return { input, shown };
  }
}

// The setting at which a slider stands, with two digits.
function settingAt({ value, slider: { least, most } }) {
  return Number((least * (most / least) ** Number(value)).toPrecision(2));
}

// A setting as it was chosen: 1, 0.5.
function spellSetting(value) {
  return String(value).replace("-", "−");
}
