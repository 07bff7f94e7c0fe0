"""Trained networks: their vocabularies, tasks, grammar, models and training, and the analysis of them."""
