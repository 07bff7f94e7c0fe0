"""Computes the whole Transformer: embeddings, feed-forward layers, stacks of layers, and the unembedding to words."""
