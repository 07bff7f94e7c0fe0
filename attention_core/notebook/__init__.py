"""Draws runs, proofs and diagnoses as HTML for notebooks."""
