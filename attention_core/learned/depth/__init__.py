"""Deep stacks of small blocks, with and without what holds them together: residuals and norms."""
