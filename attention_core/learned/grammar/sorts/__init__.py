"""The sorts of text: each a way to draw a scene."""
