"""The lesson on induction heads, which copy."""
