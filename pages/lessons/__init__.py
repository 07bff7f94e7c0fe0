"""The lessons, a folder each, and their frame."""
