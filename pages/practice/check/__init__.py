"""The page "Check your work", which checks numbers that were calculated by hand."""
