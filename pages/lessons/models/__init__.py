"""Lesson 17: the attention of published models."""
