"""The history of attention."""
