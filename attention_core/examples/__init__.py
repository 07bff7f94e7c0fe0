"""Reads the app's examples from JSON files of the package: their words, vectors, matrices and settings."""
