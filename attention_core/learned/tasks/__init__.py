"""What the networks learn from: dates, reversed letters, repetitions, votes."""
