"""Trained networks: their symbols, tasks, grammar, models and training, and their analysis."""
