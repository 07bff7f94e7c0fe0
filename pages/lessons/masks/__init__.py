"""Lesson 5: masks."""
