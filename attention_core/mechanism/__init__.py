"""Computes attention: operations in PyTorch, NumPy, as formulas and as cells; scores, masks, positions; attend."""
