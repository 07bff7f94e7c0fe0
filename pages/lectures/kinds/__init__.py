"""The kinds of scenes, one module each: a record of what the scene shows, read from and written to JSON."""
