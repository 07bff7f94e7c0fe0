"""The decoder's lesson, drawer "sum": what does each part add to the next word?"""

from attention_core.analysis.whole_parts import pushes_by_kind, whole_parts
from attention_core.transformer.stack import UNEMBEDDING
from pages.lessons.decoder.translated import Written
from pages.lessons.sentences import show_sentence
from pages.panels.model_walk import format_push, show_walk
from pages.site.words import escape_markdown


def show_sum_of_parts(written: Written) -> None:
    """Shows the sum that the logit of the next word is, part by part."""
    view = written.view()
    pushes = pushes_by_kind(whole_parts(view.stack, view.at, view.target))
    logits = view.stack[UNEMBEDDING]["logits"]
    show_sentence(
        "lessons.decoder.sum",
        row=escape_markdown(written.target[written.row]),
        word=escape_markdown(view.stack[UNEMBEDDING].labels["V"][view.target]),
        logit=format_push(float(logits[0, view.at, view.target])),
        **{kind: format_push(push) for kind, push in pushes.items()},
    )
    show_walk(written.view, "decoder_walk")
