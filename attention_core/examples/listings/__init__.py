"""Attention as courses write it; each module is a separate script, which the app shows and runs unchanged."""
