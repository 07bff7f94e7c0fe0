"""The kinds of scenes, one module per kind: the record of a scene's content, and its conversion from and to JSON."""
