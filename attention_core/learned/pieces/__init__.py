"""Splits texts into subword tokens ("pieces") by byte-pair encoding, learned from sentences of the grammar."""
