"""The whole Transformer: embeddings, feed-forward layers, the unembedding to words, and stacks of layers."""
