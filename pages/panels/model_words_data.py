"""What the panel of the next word is drawn from: the text, the likeliest words, sliders, the shelves of the cache."""

import numpy as np

from attention_core.transformer.stack import UNEMBEDDING
from attention_core.variants.cached_model import CachedRun
from attention_core.variants.decoding_work import total_work
from pages import components
from pages.panels.model_look import BlockView
from pages.panels.word_choices import describe_cuts, describe_temperature
from pages.runs.model_runs import model_vocabulary
from pages.session.labels import current_palette
from pages.setup.setup import Setup
from pages.setup.word_choices import WORD_SEEDS
from pages.site.words import say

MOST_LIKELY = 10  # words that are shown
BUTTONS = ("word", "sentence", "back", "again", "take")


def pack_words(setup: Setup, view: BlockView, tiles: list[dict], run: CachedRun | None) -> bytes:
    """All that the component draws. tiles: the text. run: of a decoder, what its cache holds."""
    logits = view.stack[UNEMBEDDING]["logits"][0, view.at]
    form = "encoder" if run is None else "decoder"
    data = {
        "tiles": tiles,
        "words": make_word_rows(view),
        "sliders": {"temperature": describe_temperature(setup), **describe_cuts(setup)},
        "seed": describe_seed(setup),
        "cache": None if run is None else describe_cache(run, view.tokens),
        "palette": vars(current_palette()),
        "text": {
            "tiles": say(f"words.tiles.{form}"),
            "bars": say(f"words.bars.{form}"),
            "pick": say(f"words.pick.{form}", word="{word}"),
            "cut": say("words.cut"),
            "buttons": {name: say(f"words.button.{name}") for name in BUTTONS} if run else {},
        },
    }
    return components.pack_bytes({**data, "numbers": logits.numpy().astype(np.float32).tobytes()})


def make_word_rows(view: BlockView) -> list[dict]:
    """The likeliest words, each with its probability and the cell that it is."""
    trace = view.stack[UNEMBEDDING]
    likeliest = trace["logits"][0, view.at].topk(MOST_LIKELY).indices.tolist()
    shares = trace["probabilities"][0, view.at]
    words = model_vocabulary(view.name)
    return [
        {
            "word": words[number],
            "number": number,
            "share": float(shares[number]),
            "cell": {"part": UNEMBEDDING, "step": "probabilities", "index": [0, view.at, number]},
        }
        for number in likeliest
    ]


def describe_seed(setup: Setup) -> dict:
    """Whether the likeliest word is written, or one that a seed draws."""
    texts = {name: say(f"words.seed.{name}") for name in ("label", "likeliest", "drawn", "seed")}
    return {"value": setup.word_seed, "ends": WORD_SEEDS, **texts}


def describe_cache(run: CachedRun, words: tuple[str, ...]) -> dict:
    """The shelves: one a layer, a column a word; what they hold, and the rows that they save."""
    nbytes = run.nbytes
    rows, without = total_work(run.count).queries, total_work(run.count, cached=False).queries
    return {
        "columns": words,
        "layers": [say("model.layer", layer=part.partition(".")[0]) for part in nbytes],
        "title": say("words.cache.title", kilobytes=f"{sum(nbytes.values()) / 1000:.1f}"),
        "rows": say("words.cache.rows", rows=rows, without=without),
    }
