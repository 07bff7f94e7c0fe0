"""The practice pages: check your work, puzzles, spot the bug."""
