"""Symbols as numbers, and the split into training texts and held-out texts."""
