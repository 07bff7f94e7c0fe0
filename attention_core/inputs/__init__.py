"""Reading the user's input: sentences, matrices as text, changed cells, uploaded files; building heads by hand."""
