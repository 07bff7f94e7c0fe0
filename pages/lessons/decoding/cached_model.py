"""The sizes of a model whose key/value cache is counted in the lesson on decoding."""

from dataclasses import dataclass, replace

from attention_core.variants.decoding_work import cache_bytes, latent_bytes
from attention_core.verification.precision import PRECISIONS

MODEL_HEADS, MODEL_HEAD_WIDTH = 32, 128  # of a layer: 32 query heads of width 128 make a model of 4,096
LATENT_WIDTH, TURNED_WIDTH = 4 * MODEL_HEAD_WIDTH, MODEL_HEAD_WIDTH // 2  # of a token, as in DeepSeek-V2
CACHE_WINDOWS = {"all": None, "last_4096": 4096, "last_1024": 1024}  # tokens that are kept; None: all of them


@dataclass(frozen=True)
class CachedModel:
    """The settings that decide how many bytes the cache of a model holds.

    kv_heads: of each layer; None: a latent instead. window: one of CACHE_WINDOWS. dtype: one of PRECISIONS."""

    kv_heads: int | None
    window: str
    layers: int
    dtype: str

    @property
    def plain(self) -> "CachedModel":
        """The same model with a key/value head for each query head, and with all keys."""
        return replace(self, kv_heads=MODEL_HEADS, window="all")

    def bytes_after(self, tokens: int) -> int:
        """Returns the bytes that the cache holds after so many tokens."""
        common = {"dtype": PRECISIONS[self.dtype], "layers": self.layers, "window": CACHE_WINDOWS[self.window]}
        if self.kv_heads is None:
            return latent_bytes(tokens, d_c=LATENT_WIDTH, d_r=TURNED_WIDTH, **common)
        return cache_bytes(tokens, kv_heads=self.kv_heads, d_k=MODEL_HEAD_WIDTH, d_v=MODEL_HEAD_WIDTH, **common)
