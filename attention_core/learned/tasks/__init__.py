"""The tasks of the networks: dates, reversed letters, repetitions, votes."""
