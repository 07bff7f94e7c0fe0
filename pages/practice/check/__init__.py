"""Check your work: every number is judged twice."""
