"""Splits texts into subword tokens ("pieces") by byte-pair encoding, which learns from sentences of the grammar."""
