"""Trains and measures deep stacks of narrow blocks with and without residuals and norms."""
