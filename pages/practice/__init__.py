"""Contains the practice pages: check your work, puzzles, spot the bug."""
