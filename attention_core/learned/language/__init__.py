"""The small language models trained for this app: the sampling of their texts, their training, and measurements of
their heads.
"""
