"""Pictures of a run as chart specifications and bytes: attention maps, bars and curves, and their colours and texts."""
