"""Adds further steps to a run, or measures it: the softmax in stages, Jacobians, leaks of future tokens, contributions
of heads.
"""
