"""Lesson 12: a printed example."""
