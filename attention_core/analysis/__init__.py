"""Further steps and measures of a run: softmax in stages, Jacobians, leaks from the future, heads' contributions."""
