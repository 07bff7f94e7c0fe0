// Where a slider stands that is held: all that follows it shows this position, and the server's when it is let go.
// data: { of, position }: the slider's name, and where the server says that it stands. show: draws a position.
function followSlider(root, data, show) {
  Object.assign(root, { data, show });
  const held = window.heldSlider;
  show(held?.of === data.of ? held.position : data.position);
  root.hear ??= listenToSliders(root);
}

function listenToSliders(root) {
  const hear = ({ detail }) => {
    if (!root.isConnected) window.removeEventListener("slider-moved", hear);
    else if (detail.of === root.data.of) root.show(detail.position);
  };
  window.addEventListener("slider-moved", hear);
  return hear;
}
