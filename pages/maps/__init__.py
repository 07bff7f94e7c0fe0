"""Attention maps of any model, read from a file: they are shown and measured, but not recomputed."""
