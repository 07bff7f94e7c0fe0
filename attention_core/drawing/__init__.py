"""Pictures of a Trace as chart specifications and bytes: maps, bars, curves, colours, lettering."""
