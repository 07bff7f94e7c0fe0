"""Trains the small networks, saves checkpoints, and loads the trained networks that are included in the package."""
