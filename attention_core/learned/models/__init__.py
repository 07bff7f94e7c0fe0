"""Contains the networks that the app trains, as PyTorch modules: a classifier, a copier and an encoder-decoder."""
