"""Symbols as numbers, and the split into texts for training and for measuring."""
