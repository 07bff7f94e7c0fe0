"""Pieces of words, learned from the text of the grammar: what a model reads instead of words or characters."""
