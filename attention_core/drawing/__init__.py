"""Pictures of a run as chart specifications and bytes: maps, bars, curves, their colours and their texts."""
