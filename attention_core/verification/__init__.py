"""Verifies runs: proves a run, and compares a user's own attention with a run, to find the first step that differs and
the cause.
"""
