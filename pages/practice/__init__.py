"""Practise: check your work, puzzles, spot the bug."""
