"""The networks that this app trains: the grammar that generates their texts, tasks, vocabularies, models, training,
analysis.
"""
