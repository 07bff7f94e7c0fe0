"""Lesson 15: what weights explain."""
