"""Pieces of words (subwords), learned from the text of the grammar."""
