"""Explains a run in words, formulas and code: a cell's arithmetic, LaTeX, scripts, source, matrix products."""
