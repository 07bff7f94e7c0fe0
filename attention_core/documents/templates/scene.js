// Draws the animated picture of the query first, in the colours of the dark theme on a dark screen.
const journey = document.getElementById("journey")
if (journey) {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches
  const colours = isDark ? Object.entries(JSON.parse(journey.dataset.dark)) : []
  for (const part of JSON.parse(journey.dataset.parts)) {
    const drawn = elementIn(drawPart(journey, part))
    for (const [name, colour] of colours) drawn.style.setProperty(`--${name}`, colour)
  }
}

// Shows the name and the arithmetic of a number that the reader points at, taps, or reaches by the arrow keys.
const told = document.getElementById("told")
let shown = null

function tell(cell) {
  if (cell === shown) return
  shown?.classList.remove("shown")
  shown = cell
  cell.classList.add("shown")
  const lines = [`${cell.dataset.what} = ${cell.dataset.number}`, cell.dataset.sum].filter(Boolean)
  told.replaceChildren(...lines.map(line => Object.assign(document.createElement("p"), { textContent: line })))
}

function cellOf(event) {
  return event.target instanceof Element ? event.target.closest("td[data-what]") : null
}

for (const kind of ["pointerover", "click", "focusin"]) {
  document.addEventListener(kind, event => {
    const cell = cellOf(event)
    if (cell) tell(cell)
  })
}

const ways = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }
document.addEventListener("keydown", event => {
  const cell = cellOf(event), way = ways[event.key]
  if (!cell || !way || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return
  const row = cell.parentElement
  const next = row.parentElement.rows[row.sectionRowIndex + way[0]]?.cells[cell.cellIndex + way[1]]
  if (!next?.dataset.what) return
  event.preventDefault()
  cell.tabIndex = -1
  next.tabIndex = 0
  next.focus()
})
