"""Networks whose weights are learned: their symbols, tasks, grammar, models and training, and what they show."""
