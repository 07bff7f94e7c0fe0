"""Setup: the whole state of the workbench as plain values, its link and its file."""
