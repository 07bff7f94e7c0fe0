"""The trained networks, with the grammar that writes their texts, their vocabularies, tasks, training and analysis."""
