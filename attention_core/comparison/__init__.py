"""Compares runs: distances, differences of steps, runs computed again in float64, a batch and its sentences."""
