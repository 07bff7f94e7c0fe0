// Hands the sum of the opened cell to the picture that shows it: it is written by the server, which has every operand.
export default function ({ data }) {
  window.unfolded = data;
  window.dispatchEvent(new CustomEvent("unfolded", { detail: data }));
}
