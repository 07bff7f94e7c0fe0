"""Lesson 3: the scale."""
