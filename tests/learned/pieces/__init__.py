"""The pieces of words."""
