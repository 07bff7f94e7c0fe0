"""Modules of the small language models trained for this app: their texts, their training, and what their heads do."""
