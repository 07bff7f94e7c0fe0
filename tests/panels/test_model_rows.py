"""What the parts of a sum are called on the page: each label that a sum of the core has."""

import pytest

from attention_core.analysis.residual_sum import with_logit_sum
from pages.panels.model_rows import name_part
from pages.session.view import make_screen_state
from pages.setup.setup import make_setup
from pages.site.words import use_language
from tests.transformer.stacks import small_stack

NAMES = {
    "embedding": ("the word itself", "词本身", 0),
    "embedding.positions": ("its position", "它的位置", 0),
    "1.attention.head_2": ("head 2", "头 2", 1),
    "1.attention.b_o": ("bias b_o", "偏置 b_o", 1),
    "2.attention.b_layer_after": ("bias b_layer_after", "偏置 b_layer_after", 2),
    "1.feed_forward": ("feed-forward", "前馈层", 1),
    "2.feed_forward.b_2": ("bias b_2", "偏置 b_2", 2),
    "unembedding.b_words": ("bias b_words", "偏置 b_words", 0),
}


@pytest.mark.parametrize("label", NAMES)
def test_a_part_has_a_name_and_a_layer(label):
    english, chinese, layer = NAMES[label]
    for language, name in (("en", english), ("zh", chinese)):
        with use_language(language):
            named = name_part(make_screen_state(make_setup(example="model_en_decoder"), None), label)
        assert (named["name"], named["layer"]) == (name, layer)


@pytest.mark.parametrize("norms", [("layer_norm_before",), ("layer_norm_after",)], ids=str)
def test_every_part_of_a_sum_with_biases_has_a_name(norms):
    screen = make_screen_state(make_setup(example="model_en_decoder"), None)
    for label in with_logit_sum(small_stack(norms=norms))["logit_sum"].labels["part"]:
        with use_language("en"):
            assert name_part(screen, label)["name"]
