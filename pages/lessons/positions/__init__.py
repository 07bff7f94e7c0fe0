"""Lesson 7: positions."""
