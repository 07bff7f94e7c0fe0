"""Analyses trained networks: their attention as a Trace, attributions, copying heads, and predictions under other
weights.
"""
