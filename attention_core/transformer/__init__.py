"""The whole Transformer: feed-forward layers, embeddings and the way back to words, and stacks of layers."""
