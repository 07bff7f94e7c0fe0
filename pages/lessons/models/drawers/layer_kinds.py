"""The lesson on today's models, drawer "layers": are all layers alike?"""

import streamlit as st

from attention_core.examples.published_models import GEMMA_3_12B, PUBLISHED_MODELS, PublishedModel
from attention_core.record.number_text import format_grouped, format_percent
from pages.lessons.models.cache_sizes import count_cache_bytes, share_kept
from pages.lessons.models.pairs import Side, make_side, show_sides
from pages.lessons.prompts import predict
from pages.lessons.sentences import say_bytes
from pages.site.words import say

MIXED_MODELS = ("gemma_3_12b", "gemma_2_9b", "gpt_oss_120b")  # whose layers are of two kinds; the first is shown
GUESSED_SHARES = ("2", "17", "50", "75")  # per cent


def show_layer_kinds(_: Side, new: Side) -> None:
    """Shows a local and a global layer of one model, and asks what the windows leave of its cache."""
    sides = [make_side(kind.name, GEMMA_3_12B, kind, new.setup) for kind in GEMMA_3_12B.kinds]
    show_sides(*sides)
    labels = [say("train.percent", much=percent) for percent in GUESSED_SHARES]
    right = GUESSED_SHARES.index(format_percent(share_kept(GEMMA_3_12B)))
    if predict(labels, {right}, name="left"):
        lines = [f"- {tell_share(PUBLISHED_MODELS[key])}" for key in MIXED_MODELS]
        st.markdown("\n".join(lines))


def tell_share(model: PublishedModel) -> str:
    """Says what windows leave of a model's cache."""
    local, whole = model.kinds
    return say(
        "lessons.models.left",
        model=model.name,
        local=local.count,
        whole=whole.count,
        window=format_grouped(local.window),
        context=format_grouped(model.context),
        size=say_bytes(count_cache_bytes(model, model.context)),
        plain=say_bytes(count_cache_bytes(model, model.context, is_windowed=False)),
        share=format_percent(share_kept(model)),
    )
