"""Attention maps of anybody's model: given in a file, looked at and measured, never recomputed."""
