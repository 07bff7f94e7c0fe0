"""Subword tokens ("pieces"): byte-pair encoding, learned from the texts of the grammar."""
