"""A translation network of our own: an encoder reads English, a decoder writes Chinese, and one looks at the other."""
