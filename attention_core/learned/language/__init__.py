"""Small language models of our own: what they are trained on, how, and what their heads do."""
