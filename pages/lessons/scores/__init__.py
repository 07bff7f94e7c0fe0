"""Lesson 4: scores."""
