"""Lesson 13: one vector, or attention."""
