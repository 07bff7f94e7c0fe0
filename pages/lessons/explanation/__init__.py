"""The lesson on explanation: what weights explain."""
