"""What a lesson says beside a slider, asked of the function that makes the number, at both ends and in the middle.

CLAIMS names a test for each slider; a slider without a row, or a row without its test, is red.
"""

import ast
import math
from pathlib import Path

import pytest
import torch

from attention_core import AttentionConfig, attend_qkv
from attention_core.analysis.dropout import with_dropout
from attention_core.analysis.receptive_field import reachable_inputs
from attention_core.analysis.score_bounds import cosine_ceiling
from attention_core.examples.examples import EXAMPLES
from attention_core.examples.published_models import PUBLISHED_MODELS
from attention_core.mechanism.positions import rope, sinusoidal
from attention_core.variants.cost import attention_cost, score_cost, split_by_growth
from attention_core.variants.decoding_work import cache_bytes, causal_pairs, latent_bytes, total_work
from attention_core.variants.sparse_patterns import LocalPattern, count_computed_pairs
from pages.lessons.models.cache_sizes import TEXT_LENGTHS, count_cache_bytes
from pages.site.words import LANGUAGES
from tests.screen.lesson import Lesson

ROOT = Path(__file__).parents[2]
LESSONS = ROOT / "pages" / "lessons"
OWN = "test_slider_claims"

CLAIMS = {  # by the slider's file and name: the file and the test of what is said beside it
    "bottleneck/page step_of": ("test_bottleneck", "test_the_curves_are_the_shipped_figures_of_the_step"),
    "choice/page length": ("../variants/test_task_costs", "test_the_work_of_local_attention_grows_with_the_length"),
    "cost/drawers/online_softmax block": ("test_cost", "test_the_softmax_block_by_block"),
    "cost/drawers/online_softmax seen": ("test_cost", "test_the_softmax_block_by_block"),
    "cost/drawers/skipped_pairs tokens": (OWN, "test_a_pattern_skips_pairs_only_beyond_its_window"),
    "cost/page length": (OWN, "test_twice_the_length_is_four_times_the_pairs_and_twice_the_projections"),
    "cost/precision_setups factor": ("test_cost", "test_the_readers_own_run_overflows_and_scaling_first_saves_it"),
    "cost/rounded_training scale": ("test_cost", "test_gradients_move_out_of_what_float16_loses_as_the_loss"),
    "cross/drawers/lengths queries": ("test_cross", "test_random_sequences_of_the_lecture_notes_sizes_and_others"),
    "cross/drawers/lengths keys": ("test_cross", "test_random_sequences_of_the_lecture_notes_sizes_and_others"),
    "decoding/drawers/cache_size layers": (OWN, "test_a_cache_grows_with_layers_and_tokens"),
    "decoding/drawers/cache_size tokens": (OWN, "test_a_cache_grows_with_layers_and_tokens"),
    "decoding/drawers/counted_keys length": (OWN, "test_without_a_cache_all_keys_before_are_computed_again"),
    "decoding/written temperature": ("test_decoding", "test_drawn_words_depend_on_the_seed_and_on_what_stays"),
    "decoding/written top_k": ("test_decoding", "test_drawn_words_depend_on_the_seed_and_on_what_stays"),
    "distance/drawers/both_passes passed": ("test_distance", "test_two_passes_meet_word_by_word"),
    "distance/drawers/receptive_field deep": (OWN, "test_a_receptive_field_has_one_window_less_one_more_a_layer"),
    "distance/drawers/rnn_states t": ("test_distance", "test_states_come_one_after_the_other"),
    "distance/encoder_choices length": ("test_distance", "test_random_attention_is_nearly_even_and_the_forget_bias"),
    "distance/encoder_choices gain": ("test_distance", "test_an_rnn_fades_or_explodes_by_its_gain"),
    "distance/encoder_choices keep": ("test_distance", "test_a_gate_that_keeps_reaches_farther"),
    "distance/encoder_choices layers": ("test_distance", "test_convolutions_are_exactly_silent_beyond_their_receptive"),
    "distance/encoder_choices window": ("test_distance", "test_convolutions_are_exactly_silent_beyond_their_receptive"),
    "distance/encoder_choices draws": ("test_distance", "test_the_curves_are_means_and_bands_of_torchs_jacobians"),
    "distance/page distance": ("test_distance", "test_the_distance_moves_the_line_and_the_sentence"),
    "heads/drawers/explaining_weights p": (OWN, "test_what_is_said_of_dropped_weights_holds_at_every_p"),
    "heads/drawers/explaining_weights seed": (OWN, "test_what_is_said_of_dropped_weights_holds_at_every_p"),
    "heads/drawers/head_merge merged": ("test_heads", "test_without_the_transpose_the_wrong_rows_stand_beside"),
    "heads/drawers/head_split eighth": ("test_heads", "test_an_eighth_of_the_width_changes_the_number_of_heads"),
    "heads/drawers/head_split width": ("test_heads", "test_every_line_of_a_layer_of_any_sizes_says_its_shape"),
    "heads/drawers/head_split h": ("test_heads", "test_heads_that_cannot_be_cut_are_refused_with_a_sentence"),
    "heads/drawers/head_split d_k": ("test_heads", "test_every_line_of_a_layer_of_any_sizes_says_its_shape"),
    "heads/drawers/head_split d_v": ("test_heads", "test_every_line_of_a_layer_of_any_sizes_says_its_shape"),
    "heads/drawers/sharing length": (OWN, "test_heads_change_no_cost_but_the_weights_that_are_kept"),
    "heads/drawers/sharing D": (OWN, "test_heads_change_no_cost_but_the_weights_that_are_kept"),
    "induction/page step_of": ("test_induction", "test_the_jump_is_as_gradual_as_it_is_said"),
    "learned/training_panel rate": ("test_training", "test_a_loss_that_is_no_number_stops_with_a_sentence"),
    "masks/drawers/future layers": (OWN, "test_news_travels_one_window_a_layer"),
    "masks/drawers/mask_misreadings heads": ("test_masks", "test_a_misplaced_axis_is_silent_where_there_are_as_many"),
    "masks/drawers/pairs window": ("test_masks", "test_kept_pairs_are_counted_here_and_in_longer_sequences"),
    "masks/drawers/pairs length": ("test_masks", "test_kept_pairs_are_counted_here_and_in_longer_sequences"),
    "masks/page near": ("test_masks", "test_every_preset_keeps_its_pairs"),
    "masks/page width": ("test_masks", "test_every_preset_keeps_its_pairs"),
    "meaning/networks step_of": ("test_meaning", "test_each_step_that_comes_along_has_its_own_numbers"),
    "models/drawers/cache_growth tokens": (OWN, "test_what_a_windowed_model_keeps_stops_growing_in_its_windows_alone"),
    "models/page old": ("test_models", "test_the_headline_counts_the_parts_that_differ_and_each_is_told"),
    "models/page new": ("test_models", "test_every_model_can_stand_on_both_sides"),
    "positions/drawers/order shuffle": ("test_positions", "test_without_positions_every_word_takes_its_output_with_it"),
    "positions/drawers/rotation further": (OWN, "test_rope_hears_of_the_distance_alone"),
    "positions/drawers/sines width": (OWN, "test_two_sinusoids_meet_by_their_distance_alone"),
    "positions/drawers/sines count": (OWN, "test_two_sinusoids_meet_by_their_distance_alone"),
    "positions/page dial": ("test_positions", "test_the_dial_says_how_far_head_1_looks"),
    "printed/drawers/rounding digits": ("test_printed", "test_what_rounding_did"),
    "qkv/drawers/shapes T": ("test_qkv", "test_shapes_that_fit_and_each_broken_rule"),
    "scale/drawers/score_histogram limit": ("test_scale", "test_how_many_scores_lie_outside"),
    "scale/drawers/variance draws": ("test_scale", "test_more_draws_make_a_narrower_band_and_all_laws_are_told"),
    "scale/page d_k": ("../analysis/test_softmax_saturation", "test_undivided_the_width_decides_how_sharp"),
    "scale/page keys": ("../analysis/test_softmax_saturation", "test_the_width_up_to_which_more_gradient_arrives"),
    "scores/drawers/additive_layer grow": ("test_scores", "test_the_bound_is_reached_and_not_passed_while_the_dot"),
    "scores/drawers/cosine_ceiling temperature": (OWN, "test_no_cosine_weight_passes_its_ceiling"),
    "scores/drawers/score_costs tokens": (OWN, "test_only_the_additive_score_has_a_layer_for_every_pair"),
    "scores/drawers/score_costs width": (OWN, "test_only_the_additive_score_has_a_layer_for_every_pair"),
    "scores/drawers/widths d_q": ("test_scores", "test_general_and_additive_work_at_any_widths"),
    "scores/drawers/widths d_k": ("test_scores", "test_general_and_additive_work_at_any_widths"),
    "softmax/drawers/many_numbers count": ("test_softmax", "test_the_hundred_numbers_of_lecture_notes_001"),
    "softmax/drawers/stable_softmax shift": (OWN, "test_a_shift_changes_no_share_and_a_temperature_moves_the_largest"),
    "softmax/page temperature": (OWN, "test_a_shift_changes_no_share_and_a_temperature_moves_the_largest"),
    "tokens/drawers/merges step_of": ("test_tokens", "test_the_most_frequent_pair_of_a_small_text_is_joined_next"),
}
NAMED_BY_LOOPS = {  # sliders whose name is an argument: those that their file makes
    "distance/encoder_choices": ("length", "gain", "keep", "layers", "window"),
    "models/page": ("old", "new"),
    "qkv/drawers/shapes": ("T",),  # one a size, all by one rule
}


def draw(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# ---- the table -------------------------------------------------------------------------------------------------------
def list_sliders():
    """All sliders of the lessons, by file and name."""
    found = set()
    for path in LESSONS.rglob("*.py"):
        place = path.relative_to(LESSONS).with_suffix("").as_posix()
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("slide", "find_live_choice"):
                name = call.args[0]
                names = [name.value] if isinstance(name, ast.Constant) else NAMED_BY_LOOPS[place]
                found |= {f"{place} {each}" for each in names}
    return found


def test_every_slider_names_the_test_of_what_is_said_beside_it():
    assert sorted(list_sliders() ^ {*CLAIMS}) == []


@pytest.mark.parametrize("slider", CLAIMS)
def test_the_test_of_a_slider_is_there(slider):
    file, name = CLAIMS[slider]
    text = (Path(__file__).parent / f"{file}.py").read_text("utf-8")
    assert f"\ndef {name}" in text


# ---- what is said ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("length", (64, 512, 4096))
def test_twice_the_length_is_four_times_the_pairs_and_twice_the_projections(length):
    one, twice = (split_by_growth(attention_cost(T=T, D=64)) for T in (length, 2 * length))
    assert twice == (4 * one[0], 2 * one[1])
    assert one == (2 * 64 * length**2, 4 * 64**2 * length)


@pytest.mark.parametrize("length", (64, 256, 4096))
def test_a_pattern_skips_pairs_only_beyond_its_window(length):
    """The slope of the 65 nearest is that of all pairs where all fit into the window, and 1 far beyond it."""
    pattern = LocalPattern(32, block=64)
    assert (count_computed_pairs(pattern, length, length) == length**2) == (length <= 64)
    slope = math.log2(
        count_computed_pairs(pattern, 2 * length, 2 * length) / count_computed_pairs(pattern, length, length)
    )
    assert slope == pytest.approx(1, abs=0.11) if length > 65 else slope > 1.5


@pytest.mark.parametrize("layers", (1, 12, 80))
@pytest.mark.parametrize("tokens", (1, 4096, 128 * 1024))
def test_a_cache_grows_with_layers_and_tokens(layers, tokens):
    sizes = {"layers": layers, "kv_heads": 32, "d_k": 128, "d_v": 128, "dtype": torch.float16}
    whole = cache_bytes(tokens, **sizes)
    assert whole == 2 * layers * tokens * 32 * 128 * 2
    latent = latent_bytes(tokens, d_c=512, d_r=64, layers=layers, dtype=torch.float16)
    assert latent == layers * tokens * (512 + 64) * 2 < whole


@pytest.mark.parametrize("tokens", (1, 16, 256))
def test_without_a_cache_all_keys_before_are_computed_again(tokens):
    assert total_work(tokens, cached=True).keys == tokens
    assert total_work(tokens, cached=False).keys == sum(range(1, tokens + 1)) == causal_pairs(tokens)


@pytest.mark.parametrize("layers", (0, 2, 8))
def test_a_receptive_field_has_one_window_less_one_more_a_layer(layers):
    places = torch.arange(101)
    allowed = (places[:, None] - places).abs() <= 1  # a window of 3
    seen = reachable_inputs(allowed, layers) if layers else torch.eye(101, dtype=torch.bool)
    assert seen[50].sum() == 1 + layers * 2


@pytest.mark.parametrize("layers", (1, 4, 8))
def test_news_travels_one_window_a_layer(layers):
    places = torch.arange(31)
    allowed = (places[:, None] >= places) & (places[:, None] - places < 3)
    assert reachable_inputs(allowed, layers)[-1].nonzero().min() == max(0, 30 - 2 * layers)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("p", ("0.0", "0.25", "0.75"))
def test_what_is_said_of_dropped_weights_holds_at_every_p(p, lang):
    """At 0 nothing is dropped, and the sentence says so; elsewhere rows sum to 1 on average alone."""
    trace = EXAMPLES["en_colour"].run()
    sums = torch.stack([with_dropout(trace, float(p), seed)["row_sums"] for seed in range(1, 301)])
    assert sums.mean().item() == pytest.approx(1, abs=0.05)
    assert (sums.std().item() < 1e-12) == (p == "0.0")
    nothing = {"en": "nothing is dropped", "zh": "什么也不丢弃"}
    lesson = Lesson("heads", open="explain", doubt="dropout", p=p, lang=lang)
    assert lesson.says(nothing[lang]) == (p == "0.0")


@pytest.mark.parametrize("length", (5, 64, 512))
@pytest.mark.parametrize("width", (64, 512))
def test_heads_change_no_cost_but_the_weights_that_are_kept(length, width):
    costs = {heads: attention_cost(T=length, D=width, H=heads) for heads in (1, 2, 8)}
    for heads, cost in costs.items():
        assert (cost.multiply_adds, cost.parameters) == (costs[1].multiply_adds, costs[1].parameters)
        assert cost.stored["weights"] == heads * costs[1].stored["weights"]


@pytest.mark.parametrize("shift", (0, 10, 20))
def test_rope_hears_of_the_distance_alone(shift):
    how = {"style": "halves", "base": 10000.0, "scaling": "none", "factor": 1.0, "trained": 1}
    how |= {"mscale": 1.0, "mscale_all_dim": 0.0}
    q, k = draw(0, 1, 1, 5, 6), draw(1, 1, 1, 7, 6)
    here, there = (rope(q, **how, first_position=p) @ rope(k, **how, first_position=p).mT for p in (0, shift))
    torch.testing.assert_close(here, there)


@pytest.mark.parametrize("width", (2, 8, 64))
@pytest.mark.parametrize("count", (2, 16, 64))
def test_two_sinusoids_meet_by_their_distance_alone(width, count):
    encodings = sinusoidal(torch.zeros(1, count, width, dtype=torch.float64), base=10000.0, first_position=0)
    products = encodings @ encodings.mT
    for distance in range(count):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))


@pytest.mark.parametrize("temperature", (0.05, 0.5, 1.0))
@pytest.mark.parametrize("keys", (2, 7))
def test_no_cosine_weight_passes_its_ceiling(temperature, keys):
    ceiling = cosine_ceiling(keys, temperature)
    assert ceiling == pytest.approx(1 / (1 + (keys - 1) * math.exp(-2 / temperature)))
    q, k = draw(2, 40, 1, 1, 3), draw(3, 40, 1, keys, 3)
    config = AttentionConfig("cosine", temperature=temperature)
    assert attend_qkv(q, k, k, config=config)["weights"].max() <= ceiling
    best = torch.cat((torch.ones(1, 3), -torch.ones(keys - 1, 3))).double()
    weights = attend_qkv(torch.ones(1, 3).double(), best, best, config=config)["weights"]
    assert weights.max().item() == pytest.approx(ceiling)


@pytest.mark.parametrize("width", (4, 64, 512))
def test_only_the_additive_score_has_a_layer_for_every_pair(width):
    assert score_cost("dot", width, width).products["scores"].per_pair == width
    additive = score_cost("additive", width, width).products
    assert additive["scores"].per_pair == width and additive["hidden"].per_query == width**2
    general = score_cost("general", width, width).products
    assert sum(each.per_query for each in general.values()) == width**2


@pytest.mark.parametrize("shift", (0, 100, 1000))
def test_a_shift_changes_no_share_and_a_temperature_moves_the_largest(shift):
    numbers = torch.tensor([[2.0, 1.0, 0.0, -1.0]], dtype=torch.float64).T
    largest = []
    for temperature in (0.1, 1.0, 10.0):
        config = AttentionConfig("dot", scale=1.0, temperature=temperature)
        here, there = (attend_qkv(torch.ones(1, 1).double(), k, k, config=config) for k in (numbers, numbers + shift))
        torch.testing.assert_close(here["weights"], there["weights"], rtol=0, atol=1e-9)
        largest.append(here["weights"].max().item())
    assert largest == sorted(largest, reverse=True) and largest[0] > 0.98 and largest[-1] < 0.3


@pytest.mark.parametrize("key", PUBLISHED_MODELS)
def test_what_a_windowed_model_keeps_stops_growing_in_its_windows_alone(key):
    model = PUBLISHED_MODELS[key]
    sizes = [count_cache_bytes(model, tokens) for tokens in TEXT_LENGTHS]
    assert sizes == sorted(sizes)
    windowless = sum(kind.count for kind in model.kinds if kind.window is None)
    last = sizes[-1] - sizes[-2]
    each = count_cache_bytes(model, 1, is_windowed=False) / model.layers  # of a token and a layer
    assert last == pytest.approx(windowless * each * (TEXT_LENGTHS[-1] - TEXT_LENGTHS[-2]))
