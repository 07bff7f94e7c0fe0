// A row of buttons is one stop of the Tab key; arrows, Home and End go on from one to the next. `fill` makes the row
// anew: whoever walks along it with the keyboard stays where they were. selector: which buttons are stops. columns: of
// a grid, how many stand in a line.
export function roving(root, fill, selector = "button", columns = () => 0) {
  const buttons = () => [...root.querySelectorAll(selector)];
  const focused = buttons().indexOf(root.getRootNode().activeElement);
  fill();
  const row = buttons();
  const stop = focused >= 0 ? focused : Math.max(row.findIndex((each) => each.matches(".chosen")), 0);
  row.forEach((each, i) => (each.tabIndex = i === stop ? 0 : -1));
  if (focused >= 0) row[focused]?.focus();
  root.onkeydown = (event) => {
    const at = row.indexOf(root.getRootNode().activeElement);
    const line = columns();
    const lines = line ? { ArrowDown: at + line, ArrowUp: at - line } : {};
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: row.length - 1, ...lines }[event.key];
    if (at < 0 || !row[next]) return;
    row[at].tabIndex = -1;
    row[next].tabIndex = 0;
    row[next].focus();
    event.preventDefault();
  };
}
