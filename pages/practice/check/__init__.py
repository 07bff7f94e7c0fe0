"""The page "Check your work": checks numbers that were calculated by hand."""
