"""Verification: the proof of a run, and the diagnosis of a user's own attention: the first difference and its cause."""
