"""Checks numbers: the proof of a run, the first step that differs in somebody's own attention, and why it differs."""
