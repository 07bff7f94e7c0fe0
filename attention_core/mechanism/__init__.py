"""The attention mechanism: operations in PyTorch, NumPy, formula and cell form; scores, masks, positions; attend."""
