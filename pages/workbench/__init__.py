"""The workbench: the first page, where everything can be changed."""
