"""Lectures as data, and the lecture state of a session: which lecture is open, at which scene (slide) and step."""
