"""Runs beside each other: distances, differences of steps, the same run in another precision or alone in its batch."""
