"""Lesson 2: the softmax."""
