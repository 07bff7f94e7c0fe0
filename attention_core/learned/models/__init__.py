"""The networks: what they are made of."""
