"""Setup: the whole state of the workbench as plain values, with its link and its file."""
