"""Prints texts of the grammar."""
