"""Scaled dot-product attention in NumPy."""

import numpy as np


def softmax(x, axis=-1):
    """Returns exp(x) divided by its sum, without overflow."""
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    """softmax(q kᵀ / √d_k) v; the mask is True where a pair is ignored."""
    d_k = q.shape[-1]
    k_transposed = np.transpose(k, (0, 2, 1))  # (B, S, d_k) -> (B, d_k, S)
    scores = np.matmul(q, k_transposed) / np.sqrt(d_k)  # (B, T, S)
    if mask is not None:
        scores = np.where(mask, -1e9, scores)
    weights = softmax(scores)  # over S
    return np.matmul(weights, v), weights  # (B, T, S) x (B, S, d_v) -> (B, T, d_v)


def draw():
    """Samples the tensors that the app shows: two sequences, three queries and four keys each."""
    random = np.random.RandomState(0)  # the random numbers that follow np.random.seed(0)
    q = random.randn(2, 3, 8)  # (B, T, d)
    k = random.randn(2, 4, 8)  # (B, S, d)
    v = random.randn(2, 4, 8)
    mask = np.zeros((2, 3, 4), dtype=bool)
    mask[1, :, 3] = True  # the last key of the second sequence is padding
    return q, k, v, mask


def run():
    """Returns the output and the weights."""
    q, k, v, mask = draw()
    return scaled_dot_product_attention(q, k, v, mask)


if __name__ == "__main__":
    output, weights = run()
    print(output.shape, weights.shape)
    print(weights[0])
