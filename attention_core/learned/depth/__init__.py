"""Deep stacks of narrow blocks, trained with and without residuals and norms."""
