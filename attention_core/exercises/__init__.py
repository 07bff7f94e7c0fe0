"""Exercises, puzzles and layers with bugs: their generation, and the marking of answers."""
