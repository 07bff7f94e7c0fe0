"""Holds the translation network trained for this app: its encoder reads English, its decoder generates Chinese."""
