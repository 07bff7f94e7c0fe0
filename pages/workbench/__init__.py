"""The workbench, the app's first page: the visitor can change the input, the layer and its weights."""
