"""Draws runs as chart specifications and bytes: attention maps, bars and curves, with their colours and texts."""
