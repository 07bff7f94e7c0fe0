"""Networks whose weights are learned: their symbols, tasks, models and training, and what they show."""
