"""Attention maps of any model, read from a file: shown and measured, never recomputed."""
