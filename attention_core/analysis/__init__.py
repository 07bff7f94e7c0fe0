"""Further steps and measures of a run: softmax in stages, Jacobians, leaks of the future, contributions of heads."""
