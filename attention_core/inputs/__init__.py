"""What people bring: sentences, matrices as text, edits, heads built by hand, uploaded files."""
