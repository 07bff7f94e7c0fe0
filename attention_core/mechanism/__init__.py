"""Computes attention as a list of operations, each in PyTorch, in NumPy, as a formula and as single cells; defines
scores, masks, positions and attend.
"""
