"""Attention: operations (PyTorch, NumPy, formula, cell), scores, masks, positions, a layer's plan, attend,
attend_qkv."""
