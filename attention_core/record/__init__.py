"""Records a run: the Trace, cells as expressions, number formats and errors. It imports no other subpackage of the
core.
"""
