"""The lesson on softmax: the softmax."""
