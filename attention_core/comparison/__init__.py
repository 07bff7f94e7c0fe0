"""Two runs beside each other: distances, differences of steps, a run in another precision, a sentence alone."""
