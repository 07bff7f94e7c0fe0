"""Comparing two runs: distances, differences of steps, a run computed again in float64, a batch and its sentences."""
