"""What a run leaves behind: the Trace, each cell as an expression, printed numbers, refusals. It imports no room."""
