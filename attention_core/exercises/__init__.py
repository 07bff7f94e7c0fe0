"""Generates exercises, puzzles and attention layers with bugs, and marks a visitor's answers to them."""
