"""Lesson 16: whether a head shows what a model answers."""
