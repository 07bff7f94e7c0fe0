"""The lesson of the encoder's block: two additions to a vector that goes straight through."""
