"""Lesson 14: heads that copy."""
