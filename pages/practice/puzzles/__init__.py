"""Puzzles that are solved with a few numbers."""
