"""Lesson 9: how far words reach."""
