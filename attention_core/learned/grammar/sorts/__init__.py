"""Samples the kinds of text ("sorts" in the code); each kind has a function."""
