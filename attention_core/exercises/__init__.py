"""Exercises, puzzles and bugs: how they are made, and how an answer is judged."""
