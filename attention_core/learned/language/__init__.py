"""Small language models trained for this app: their texts, their training, and the functions of their heads."""
