"""Trains the small networks, saves their checkpoints, and loads the trained networks that the package includes."""
