"""Small language models trained for this app: their texts, their training, and the work of their heads."""
