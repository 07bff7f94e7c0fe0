"""Contains the workbench: the app's first page, where the visitor can change the input, the layer and its weights."""
