"""Trains and measures deep, narrow Transformers, with and without residual connections and norms."""
