"""Lesson 11: what attention costs."""
