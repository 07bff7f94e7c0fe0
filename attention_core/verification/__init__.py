"""Verification: the proof of a run, the first step in which a reader's own attention differs from it, and why."""
