"""Defines a Setup, the whole state of the workbench as plain values, and converts it to a link or a file and back."""
