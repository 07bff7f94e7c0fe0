"""Defines the tasks of small networks: dates, letters in reverse, repeated symbols, classes with evidence."""
