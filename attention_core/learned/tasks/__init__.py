"""The tasks on which small networks are trained: dates, letters in reverse, repeated symbols, classes with evidence."""
