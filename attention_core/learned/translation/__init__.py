"""A translation network trained for this app: an encoder reads English, a decoder attends to it and writes Chinese."""
