"""Lesson 6: many heads."""
