"""Computes the other parts of a Transformer: embeddings, feed-forward layers, stacks of layers, and the unembedding to
words.
"""
