// A slider that answers while it is dragged: the picture follows at once, the server when it is let go. Streamlit's own
// says what it is only then.
// data: { label, help, values or null, least, most, value, step, parameter }: of the values that are given, else from
// least to most by equal ratios; a value is a parameter of a step of the run.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".live");
  const [name, shown, input] = ["span", "output", "input"].map((kind) => root.querySelector(kind));
  name.textContent = data.label;
  Object.assign(input, data.values ? { min: 0, max: data.values.length - 1, step: 1 } : { min: 0, max: 1, step: 0.001 });
  input.value = knobAt(data.value, data);
  root.style.setProperty("--colour", data.colour);
  const setting = () => settingAt(input, data);
  const show = () => {
    shown.textContent = spellSetting(setting());
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  show();
  shown.textContent = spellSetting(data.value); // one from a link may lie between two of the slider's
  input.oninput = () => {
    show();
    const detail = { params: { [data.step]: { [data.parameter]: setting() } } };
    window.dispatchEvent(new CustomEvent("flow-drag", { detail }));
  };
  const follow = ({ detail }) => {
    const given = detail.params?.[data.step]?.[data.parameter];
    if (given === undefined || given === setting()) return; // another hand, or its own
    input.value = knobAt(given, data);
    show();
    shown.textContent = spellSetting(given);
  };
  if (root.follow) window.removeEventListener("flow-drag", root.follow);
  root.follow = follow;
  window.addEventListener("flow-drag", follow);
  input.onchange = () => setTriggerValue("released", setting());
}

// Where the knob of a setting stands.
function knobAt(setting, { values, least, most }) {
  return values ? values.indexOf(setting) : Math.log(setting / least) / Math.log(most / least);
}

// The setting at which a slider stands; of equal ratios with two digits.
function settingAt({ value }, { values, least, most }) {
  if (values) return values[Number(value)];
  return Number((least * (most / least) ** Number(value)).toPrecision(2));
}

// A setting as it was chosen: 1, 0.5.
function spellSetting(value) {
  return String(value).replace("-", "−");
}
