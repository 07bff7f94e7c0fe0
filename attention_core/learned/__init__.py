"""Networks whose weights are learned: what they learn from, what they are, how they are trained, what is shipped."""
