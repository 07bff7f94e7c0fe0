"""Lesson 10: decoding with a cache."""
