"""Lesson 16: the attention of published models."""
