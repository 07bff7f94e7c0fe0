"""Trains the networks, saves their checkpoints, and holds the trained networks that the package includes."""
