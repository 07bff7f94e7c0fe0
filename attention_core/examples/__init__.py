"""Reads the app's examples from JSON files included in the package: their words, vectors, matrices and settings."""
