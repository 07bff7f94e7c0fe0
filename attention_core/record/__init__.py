"""The record of a run: the Trace, each cell as an expression, number formats, errors. It imports no other room."""
