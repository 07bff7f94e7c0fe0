"""Splits texts into subword tokens ("pieces") by byte-pair encoding, learned from the sentences of the grammar."""
