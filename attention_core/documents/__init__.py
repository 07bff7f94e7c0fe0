"""Writes the files that a visitor downloads: numbers, LaTeX, notebooks, handouts, pictures, lectures, and pages for
phones.
"""
