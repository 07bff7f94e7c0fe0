"""Generates exercises, puzzles and layers with bugs, and marks the visitor's answers."""
