"""Explains a run in words, formulas and code: a cell's arithmetic, LaTeX, scripts, the source that ran, matrix
products.
"""
