"""The sorts of text: each a way to sample a scene."""
