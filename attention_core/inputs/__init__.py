"""Reads what a user types, pastes or uploads (sentences, matrices, files), and builds attention heads by hand."""
