"""Functions that compare runs: distances, differences of steps, runs repeated in float64, a batch and its sentences."""
