"""The kinds of text ("sorts"), each with a function that samples a scene."""
