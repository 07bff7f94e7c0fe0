"""Verifies runs: proves a run, and finds the first step in which a user's own attention differs, and the cause."""
