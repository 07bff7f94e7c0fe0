"""Lesson 1: query, key, value."""
