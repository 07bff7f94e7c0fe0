"""The kinds of scenes, one module each: a record of the scene's content, read from and written to JSON."""
