"""The lesson on cross-attention: cross-attention."""
