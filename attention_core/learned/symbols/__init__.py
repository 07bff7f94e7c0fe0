"""Letters as numbers, and which texts are kept from training."""
