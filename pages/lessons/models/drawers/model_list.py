"""The lesson on today's models, drawer "read": what does each of them take and keep, and where does it stand?"""

from collections.abc import Sequence

from attention_core.examples.published_models import PUBLISHED_MODELS
from pages.lessons.models.cache_sizes import count_cache_bytes, count_cached_layers
from pages.lessons.models.model_table import show_model_table
from pages.lessons.models.pairs import Side
from pages.lessons.models.read_sources import show_read_sources
from pages.lessons.prompts import predict
from pages.lessons.sentences import say_bytes, show_sentence

GUESSED_MODELS = ("gpt_2", "llama_7b", "llama_2_70b", "gpt_oss_120b")  # one of them keeps the most bytes a token


def show_model_list(layers: Sequence[Side], told: Sequence[str]) -> None:
    """Shows the table of all models, whose bytes are guessed before they are seen, and what was read of each.

    layers, told: see show_model_table."""
    known = ask_for_most_bytes()
    show_model_table(layers, told, known)
    show_read_sources()


def ask_for_most_bytes() -> bool:
    """Asks which model keeps the most for every token, and says what each keeps. Gives whether that may be seen."""
    guessed = [PUBLISHED_MODELS[key] for key in GUESSED_MODELS]
    sizes = [count_cache_bytes(model, 1) for model in guessed]
    most = guessed[sizes.index(max(sizes))]
    known = predict([model.name for model in guessed], {guessed.index(most)})
    if known:
        show_sentence(
            "lessons.models.most",
            model=most.name,
            layers=count_cached_layers(most),
            kv=most.kv_heads,
            width=most.head_width,
            size=say_bytes(max(sizes)),
            shared=say_bytes(sizes[GUESSED_MODELS.index("llama_2_70b")]),
        )
    return known
