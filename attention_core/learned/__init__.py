"""The networks that this app trains, with the grammar that generates their texts, their tasks, training and
analysis.
"""
