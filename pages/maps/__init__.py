"""Attention maps imported from a file of any model: they are shown and measured, but not recomputed."""
