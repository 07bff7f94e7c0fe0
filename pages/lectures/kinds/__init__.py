"""The kinds of scenes (slides of a lecture), one module per kind: the record of the content, and its JSON form."""
