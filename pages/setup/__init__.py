"""Setup, the whole state of the workbench as plain values, and its conversion to a link or a file and back."""
