"""Functions that add steps to a run, or measure it: staged softmax, Jacobians, leaks of future tokens, head
contributions.
"""
