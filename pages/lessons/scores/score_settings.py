"""Scores: the five scores as a Setup says them, what each makes of the asking word, and rows under several."""

from collections.abc import Mapping

from attention_core import Trace
from attention_core.analysis.score_bounds import additive_bound, cosine_ceiling
from attention_core.record.number_text import format_fixed
from pages.lessons.sentences import quote_token
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import option_labels
from pages.session.labels import Selection
from pages.site.words import say

# The additive score's layer, built by hand: two units, tanh(2 (q + k)), each of which reads one number of q and of k.
# A bias of -3 closes both, near -1. A query of 3 opens the unit of what it asks for, and there the keys count.
HANDMADE_ADDITIVE_LAYER = {"w_aq": "2,0;0,2", "w_ak": "2,0;0,2", "v_a": "4,4", "b_q": "-3,-3,-3,-3"}
CROSSED_W_A = "0,1;1,0"  # the first number of q meets the second of k, and the second the first
SCORE_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "cosine": {"score": "cosine"},
    "scaled_dot": {"score": "scaled_dot"},
    "dot": {"score": "dot"},
    "general": {"score": "general", "w_a": CROSSED_W_A},
    "additive": {"score": "additive", **HANDMADE_ADDITIVE_LAYER},
}
USUAL_SCORE = "scaled_dot"


def name_score(score: str) -> str:
    """What a score is called."""
    label = option_labels("score")
    return label(score)


def describe_row(trace: Trace, selection: Selection, score: str) -> str:
    """What the selected word does under a score."""
    fact = fact_sentence(trace, selection)
    return say("lessons.scores.by", score=name_score(score), fact=fact)


def describe_score(trace: Trace, selection: Selection, score: str) -> str:
    """What a score makes of the asking word and of the word that gets the most, with the score's own limit."""
    row = (selection.batch, selection.head, selection.query)
    key = int(trace["weights"][row].argmax())
    others = [score for place, score in enumerate(trace["scores"][row].tolist()) if place != key]
    sizes = trace.sizes()
    return say(
        f"lessons.scores.remark_{score}",
        query=quote_token(trace, "T", selection.query),
        key=quote_token(trace, "S", key),
        score=format_fixed(trace["scores"][row][key].item()),
        scaled=format_fixed(trace["scaled_scores"][row][key].item()),
        other=format_fixed(max(others, default=0.0)),
        d_k=sizes["d_k"],
        keys=sizes["S"],
        ceiling=format_fixed(cosine_ceiling(sizes["S"])),
        bound=format_fixed(get_additive_bound(trace)),
    )


def get_additive_bound(trace: Trace) -> float:
    """What no additive score of a run exceeds; 0 where it has another score."""
    if "v_a" not in trace:
        return 0.0
    return additive_bound(trace["v_a"]).item()
