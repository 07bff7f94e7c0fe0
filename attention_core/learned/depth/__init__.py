"""Deep stacks of small blocks, with and without residuals and norms."""
