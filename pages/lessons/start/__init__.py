"""Start here."""
