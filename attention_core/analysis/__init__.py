"""Further steps and measures of a run: staged softmax, Jacobians, leaks of future tokens, head contributions."""
