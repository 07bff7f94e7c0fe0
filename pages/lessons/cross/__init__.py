"""Lesson 8: cross-attention."""
