"""What a lesson says beside a slider, asked of the function that makes the number, at both ends and in the middle.

CLAIMS names a test for each slider; a slider without a row, or a row without its test, is red.
"""

import ast
import math
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.analysis.across_layers import reachable_inputs
from attention_core.analysis.dot_product_moments import measure_variances, score_histograms
from attention_core.analysis.dropout import with_dropout
from attention_core.analysis.online_softmax import count_blocks, with_online_softmax
from attention_core.analysis.position_effects import distance_after_reordering, shuffle_order
from attention_core.analysis.score_bounds import cosine_ceiling
from attention_core.analysis.softmax_saturation import last_width_of_more, measure_saturation
from attention_core.analysis.softmax_steps import with_cross_entropy, with_jacobian
from attention_core.examples.examples import EXAMPLES
from attention_core.examples.published_models import PUBLISHED_MODELS
from attention_core.exercises.rounding import rounding_reach, with_rounded_weights
from attention_core.explanation.facts import count_mask_pairs, weight_sums
from attention_core.inputs.matrix_link import read_matrix
from attention_core.learned.insight.attributions import influence_of_symbols, mean_own_share
from attention_core.learned.insight.copying_heads import first_share
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.checkpoints import load_step, read_pair
from attention_core.learned.language.measures import MEASURED_PAIRS, pair_places, pairs_by_length
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.readout import WordChoices, with_word_choices
from attention_core.learned.pieces.byte_pairs import count_pairs, learn_merges, split_runs
from attention_core.learned.tasks import reversal
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import shipped_figures
from attention_core.learned.training.training import Training
from attention_core.mechanism.positions import rope, sinusoidal
from attention_core.variants.cost import attention_cost, score_cost, split_by_growth
from attention_core.variants.decoding_work import cache_bytes, causal_pairs, latent_bytes, total_work
from attention_core.variants.encoders import Encoder, draw_layers, random_words, run_attention
from attention_core.variants.influence import influence_by_distance
from attention_core.variants.recurrence import passed_places
from attention_core.variants.sparse import LocalPattern, count_computed_pairs
from attention_core.variants.task_costs import task_cost
from attention_core.variants.textbook_code import (
    heads_by_eighth,
    merge_by_copy,
    merge_by_reshape,
    merge_by_view,
    merge_untransposed,
    numbered_heads,
)
from attention_core.verification.mask_conventions import with_misplaced_mask
from pages.lessons.cost.drawers import GRADIENT_SCALES, QUERY_FACTORS, trained_gradients
from pages.lessons.cross.drawers import make_random_sequences
from pages.lessons.distance.influence import format_left, name_course
from pages.lessons.heads.drawers import make_random_layer
from pages.lessons.induction import drawers as induction
from pages.lessons.learned.learning import OFFERED_LEARNING_RATES, load_shipped_training, tell_right_share
from pages.lessons.learned.writers import write_at_step
from pages.lessons.meaning.drawers import NETWORKS, OFFERED_PAIRS, figures_of, name_network
from pages.lessons.models.drawers import TEXT_LENGTHS, count_cache_bytes
from pages.lessons.positions.drawers import POSITION_VARIANTS
from pages.lessons.softmax.drawers import name_if_divided, setup_with_scores
from pages.lessons.tokens.drawers import MOST_MERGES, SMALL_TEXT, cut_run
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import spell_tokens
from pages.runs.network_store import find_network
from pages.setup.setup import make_setup
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.lesson import Lesson

ROOT = Path(__file__).parents[2]
LESSONS = ROOT / "pages" / "lessons"
OWN = "test_slider_claims"

CLAIMS = {  # by the slider's file and name: the file and the test of what is said beside it
    "bottleneck step_of": (OWN, "test_what_is_said_of_letters_holds_after_every_step"),
    "choice length": (OWN, "test_what_is_said_of_each_task_holds_at_every_length"),
    "cost block": (OWN, "test_blocks_give_the_output_over_the_keys_that_were_seen"),
    "cost seen": (OWN, "test_blocks_give_the_output_over_the_keys_that_were_seen"),
    "cost tokens": (OWN, "test_a_pattern_skips_pairs_only_beyond_its_window"),
    "cost length": (OWN, "test_twice_the_length_is_four_times_the_pairs_and_twice_the_projections"),
    "cost factor": (OWN, "test_a_score_is_lost_beyond_the_largest_number_alone"),
    "cost scale": (OWN, "test_the_larger_the_loss_the_fewer_gradients_are_lost"),
    "cross queries": (OWN, "test_rows_sum_to_1_and_only_a_single_key_gets_all"),
    "cross keys": (OWN, "test_rows_sum_to_1_and_only_a_single_key_gets_all"),
    "decoding layers": (OWN, "test_a_cache_grows_with_layers_and_tokens"),
    "decoding tokens": (OWN, "test_a_cache_grows_with_layers_and_tokens"),
    "decoding length": (OWN, "test_without_a_cache_all_keys_before_are_computed_again"),
    "decoding temperature": (OWN, "test_fewer_words_may_come_and_a_temperature_makes_them_more_alike"),
    "decoding top_k": (OWN, "test_fewer_words_may_come_and_a_temperature_makes_them_more_alike"),
    "distance passed": (OWN, "test_both_passes_are_there_for_the_words_that_both_have_come_by"),
    "distance deep": (OWN, "test_a_receptive_field_has_one_window_less_one_more_a_layer"),
    "distance t": ("test_distance", "test_states_come_one_after_the_other"),
    "distance length": (OWN, "test_random_attention_has_nearly_even_weights"),
    "distance gain": (OWN, "test_an_influence_vanishes_or_explodes_as_it_is_told"),
    "distance keep": (OWN, "test_the_more_a_gate_keeps_the_more_is_left"),
    "distance layers": (OWN, "test_a_convolution_hears_its_receptive_field_and_no_more"),
    "distance window": (OWN, "test_a_convolution_hears_its_receptive_field_and_no_more"),
    "distance draws": (OWN, "test_a_single_draw_has_no_band"),
    "distance distance": ("test_distance", "test_the_distance_moves_the_line_and_the_sentence"),
    "heads p": (OWN, "test_what_is_said_of_dropped_weights_holds_at_every_p"),
    "heads seed": (OWN, "test_what_is_said_of_dropped_weights_holds_at_every_p"),
    "heads merged": (OWN, "test_heads_side_by_side_need_their_numbers_in_one_piece"),
    "heads eighth": (OWN, "test_an_eighth_of_a_width_is_eight_heads_only_where_8_divides_it"),
    "heads width": (OWN, "test_a_head_is_as_wide_as_its_part_rounded"),
    "heads h": (OWN, "test_a_head_is_as_wide_as_its_part_rounded"),
    "heads d_k": (OWN, "test_a_head_is_as_wide_as_its_part_rounded"),
    "heads d_v": (OWN, "test_a_head_is_as_wide_as_its_part_rounded"),
    "heads length": (OWN, "test_heads_change_no_cost_but_the_weights_that_are_kept"),
    "heads D": (OWN, "test_heads_change_no_cost_but_the_weights_that_are_kept"),
    "induction step_of": (OWN, "test_the_first_half_is_guessed_before_the_training_and_worse_after_it"),
    "learned rate": (OWN, "test_a_rate_is_what_a_first_step_moves_each_number_by"),
    "masks layers": (OWN, "test_news_travels_one_window_a_layer"),
    "masks heads": (OWN, "test_a_misplaced_axis_is_refused_unless_heads_are_as_many_as_words"),
    "masks window": (OWN, "test_pairs_are_counted_by_hand"),
    "masks length": (OWN, "test_pairs_are_counted_by_hand"),
    "masks near": (OWN, "test_a_wide_window_blocks_nothing_and_a_wide_slide_only_what_comes_later"),
    "masks width": (OWN, "test_a_wide_window_blocks_nothing_and_a_wide_slide_only_what_comes_later"),
    "meaning step_of": (OWN, "test_what_is_said_of_heads_and_answers_holds_after_every_step"),
    "models tokens": (OWN, "test_what_a_windowed_model_keeps_stops_growing_in_its_windows_alone"),
    "models old": ("test_models", "test_the_headline_counts_the_parts_that_differ_and_each_is_told"),
    "models new": ("test_models", "test_every_model_can_stand_on_both_sides"),
    "positions shuffle": (OWN, "test_words_take_their_outputs_along_where_nothing_tells_their_places"),
    "positions further": (OWN, "test_rope_hears_of_the_distance_alone"),
    "positions width": (OWN, "test_two_sinusoids_meet_by_their_distance_alone"),
    "positions count": (OWN, "test_two_sinusoids_meet_by_their_distance_alone"),
    "positions dial": (OWN, "test_head_1_looks_at_the_words_nearest_to_where_the_slider_points"),
    "printed digits": (OWN, "test_rounded_weights_move_no_number_farther_than_is_said"),
    "qkv T": (OWN, "test_shapes_fit_or_break_the_rule_that_is_named"),
    "scale limit": (OWN, "test_as_many_scores_lie_outside_as_a_normal_law_has_there"),
    "scale draws": (OWN, "test_95_of_100_measured_variances_lie_in_the_band"),
    "scale d_k": ("../analysis/test_softmax_saturation", "test_undivided_the_width_decides_how_sharp"),
    "scale keys": (OWN, "test_divided_the_gradient_settles_from_a_width_of_16_on"),
    "scores grow": ("test_scores", "test_the_bound_is_reached_and_not_passed_while_the_dot"),
    "scores temperature": (OWN, "test_no_cosine_weight_passes_its_ceiling"),
    "scores tokens": (OWN, "test_only_the_additive_score_has_a_layer_for_every_pair"),
    "scores width": (OWN, "test_only_the_additive_score_has_a_layer_for_every_pair"),
    "scores d_q": ("test_scores", "test_general_and_additive_work_at_any_widths"),
    "scores d_k": ("test_scores", "test_general_and_additive_work_at_any_widths"),
    "softmax count": (OWN, "test_the_largest_of_the_first_numbers_gets_its_share"),
    "softmax shift": (OWN, "test_a_shift_changes_no_share_and_a_temperature_moves_the_largest"),
    "softmax temperature": (OWN, "test_slopes_are_those_in_the_quotients"),
    "tokens step_of": (OWN, "test_the_next_merge_is_a_pair_that_stands_there_most_often"),
}
NAMED_BY_LOOPS = {  # sliders whose name is an argument: those that their lesson makes
    "distance": ("length", "gain", "keep", "layers", "window"),
    "models": ("old", "new"),
    "qkv": ("T",),  # one a size, all by one rule
}


def draw(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# ---- the table -------------------------------------------------------------------------------------------------------
def list_sliders():
    """All sliders of the lessons, by lesson and name."""
    found = set()
    for path in LESSONS.rglob("*.py"):
        place = path.relative_to(LESSONS).parts[0].removesuffix(".py")
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("slide", "find_live_choice"):
                name = call.args[0]
                names = [name.value] if isinstance(name, ast.Constant) else NAMED_BY_LOOPS[place]
                found |= {f"{place} {each}" for each in names}
    return found


def test_every_slider_names_the_test_of_what_is_said_beside_it():
    there, named = list_sliders(), {*CLAIMS}
    wrong = [f"{slider}: a line of CLAIMS names the test of what is said beside it" for slider in there - named]
    wrong += [f"{slider}: it stands in CLAIMS, and there is no such slider" for slider in named - there]
    assert not wrong, "\n".join(sorted(wrong))


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
    how |= {"mscale": 1.0, "mscale_all_dim": 0.0, "columns": None, "pair_factors": None}
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


# ---- words and pieces ------------------------------------------------------------------------------------------------
def test_the_next_merge_is_a_pair_that_stands_there_most_often():
    """After every number of merges of the slider, counted in the pieces that the drawer shows then."""
    runs = Counter(split_runs(SMALL_TEXT))
    merges = learn_merges(runs, MOST_MERGES)
    assert len(merges) == MOST_MERGES
    for step, merge in enumerate(merges):
        pairs = count_pairs({run: cut_run(run, merges[:step]) for run in runs}, runs)
        assert pairs[merge.left, merge.right] == merge.count == max(pairs.values())


def test_fewer_words_may_come_and_a_temperature_makes_them_more_alike():
    name = "en_asked_decoder"
    stack = run_model(name, ("<start>", "the", "dog"))
    most = []
    for temperature, top_k in product((0.5, 1.0, 2.0), (2, 10, None)):
        chosen = with_word_choices(name, stack, WordChoices(temperature, top_k))
        shares = chosen["unembedding"]["probabilities"][0, -1]
        assert (shares > 0).sum() == (top_k or len(shares))
        most.append(shares.max().item())
    for few in range(3):
        assert most[few::3] == sorted(most[few::3], reverse=True)  # the higher the temperature, the less


# ---- heads and shapes ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("width", (4, 8, 12, 16, 18, 20, 24, 25, 32, 64))
def test_an_eighth_of_a_width_is_eight_heads_only_where_8_divides_it(width):
    eighth = width // 8
    made = (width // eighth, eighth) if eighth and width % eighth == 0 else None
    assert heads_by_eighth(width) == made
    assert (made is not None and made[0] == 8) == (width % 8 == 0)


@pytest.mark.parametrize("heads", (2, 3, 4))
def test_heads_side_by_side_need_their_numbers_in_one_piece(heads):
    outputs = numbered_heads(heads)
    with pytest.raises(RuntimeError):
        merge_by_view(outputs)
    meant = [[100 * h + 10 * t + i for h in range(1, heads + 1) for i in (1, 2)] for t in (1, 2, 3)]
    assert merge_by_copy(outputs)[0].tolist() == merge_by_reshape(outputs)[0].tolist() == meant
    for row in merge_untransposed(outputs)[0].tolist():  # different tokens, one after another
        assert len({int(number) // 10 % 10 for number in row}) > 1


@pytest.mark.parametrize(
    "width, heads, d_k",
    [(8, 1, 8), (8, 16, 1), (25, 2, 13), (20, 4, 5), (512, 1, 512), (512, 3, 170), (512, 6, 85), (512, 16, 32)],
)
def test_a_head_is_as_wide_as_its_part_rounded(width, heads, d_k):
    sizes = trace_for(make_random_layer(width, heads)).sizes()
    assert sizes["d_k"] == sizes["d_v"] == d_k and abs(d_k - width / heads) < 1
    own = trace_for(make_random_layer(width, heads, 1, 32)).sizes()
    assert (own["d_k"], own["d_v"], own["H·d_v"]) == (1, 32, 32 * heads)


@pytest.mark.parametrize("size", (1, 6, 12))
def test_shapes_fit_or_break_the_rule_that_is_named(size):
    trace = attend_qkv(draw(0, 5, size), draw(1, size, size), draw(2, size, 7))
    assert trace["scores"].shape[-2:] == (5, size) and trace["head_outputs"].shape[-2:] == (5, 7)
    with pytest.raises(AttentionError, match="as many values as keys"):
        attend_qkv(draw(0, 5, 3), draw(1, size, 3), draw(2, size + 1, 7))
    with pytest.raises(AttentionError, match="width"):
        attend_qkv(draw(0, 5, size), draw(1, 4, size + 1), draw(2, 4, 7))


@pytest.mark.parametrize("queries, keys", [(1, 1), (1, 12), (6, 6), (12, 1), (12, 12)])
def test_rows_sum_to_1_and_only_a_single_key_gets_all(queries, keys):
    trace = trace_for(make_random_sequences(queries, keys))
    assert weight_sums(trace, "S") == pytest.approx([1] * queries)
    gets = weight_sums(trace, "T")
    assert math.fsum(gets) == pytest.approx(queries) and min(gets) > 0
    assert (max(gets) == pytest.approx(queries)) == (keys == 1)


# ---- masks and places ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("heads", (1, 7, 16))
def test_a_misplaced_axis_is_refused_unless_heads_are_as_many_as_words(heads):
    q = draw(heads, 1, heads, 7, 3)
    run = attend_qkv(q, q, q, config=AttentionConfig(masks=("causal",)))
    mask = torch.ones(7, 7, dtype=torch.bool).tril().unsqueeze(1)
    if heads == 7:
        theirs = scaled_dot_product_attention(q, q, q, attn_mask=mask)
        torch.testing.assert_close(with_misplaced_mask(run)["head_outputs"], theirs)
        return
    with pytest.raises(AttentionError):
        with_misplaced_mask(run)
    with pytest.raises(RuntimeError):
        scaled_dot_product_attention(q, q, q, attn_mask=mask)
    if heads == 1:  # masked_fill takes it in silence
        assert run["scores"].masked_fill(~mask, -math.inf).shape == (1, 7, 7, 7)


@pytest.mark.parametrize("window", (1, 4, 8))
@pytest.mark.parametrize("length", (8, 64, 512))
def test_pairs_are_counted_by_hand(window, length):
    near = sum(min(i + window, length - 1) - max(i - window, 0) + 1 for i in range(length))
    before = sum(min(i, window) + 1 for i in range(length))
    assert count_mask_pairs(length, ("local", {"window": window})).kept == near
    assert count_mask_pairs(length, ("sliding", {"window": window + 1})).kept == before
    assert count_mask_pairs(length, ("causal", {})).kept == length * (length + 1) // 2


def test_a_wide_window_blocks_nothing_and_a_wide_slide_only_what_comes_later():
    kept = [count_mask_pairs(7, ("local", {"window": near})).kept for near in (0, 3, 7)]
    assert kept == [7, 37, 49]
    kept = [count_mask_pairs(7, ("sliding", {"window": width})).kept for width in (1, 4, 8)]
    assert kept == [7, 22, count_mask_pairs(7, ("causal", {})).kept]


@pytest.mark.parametrize("seed", (1, 5, 10))
@pytest.mark.parametrize("told", POSITION_VARIANTS)
def test_words_take_their_outputs_along_where_nothing_tells_their_places(told, seed):
    before = make_setup(example="en_colour").with_fields(**POSITION_VARIANTS[told])
    words = inputs_of(before).queries
    order = shuffle_order(len(words), seed)
    after = before.with_fields(text=spell_tokens(tuple(words[place] for place in order), before.run))
    moved = distance_after_reordering(trace_for(after), trace_for(before), order).max().item()
    assert moved < 1e-9 if told == "nothing" else moved > 1e-3


@pytest.mark.parametrize("example", ("en_colour", "zh_colour"))
@pytest.mark.parametrize("reach", (-2, -1.5, -0.5, 0, 1, 1.5, 2))
def test_head_1_looks_at_the_words_nearest_to_where_the_slider_points(example, reach):
    trace = trace_for(make_setup(example=example).with_fields(w_q=read_matrix(f"~3.0={8 * reach:g}")))
    weights = trace["weights"][0, 0]
    for place, row in enumerate(weights):
        far = [abs(key - place - reach) for key in range(len(row))]
        nearest = [key for key, away in enumerate(far) if away == min(far)]
        assert row[nearest].sum() > 0.8
        assert row[nearest].max().item() == pytest.approx(row[nearest].min().item())


# ---- distance --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("length", (1, 5, 21))
def test_both_passes_are_there_for_the_words_that_both_have_come_by(length):
    for steps in {1, (length + 1) // 2, length}:
        onward, back, complete = passed_places(length, steps)
        assert (len(onward), len(back), back[-1]) == (steps, steps, length - 1)
        assert [*complete] == sorted({*onward} & {*back})
        assert (len(complete) == 0) == (2 * steps <= length)  # no word yet


def hear(encoder, length=20, draws=1):
    words = random_words(encoder, length, 32)
    return influence_by_distance(encoder, words, at=length - 1, measure="relative", draws=draws)


@pytest.mark.parametrize("length", (8, 32, 128))
@pytest.mark.parametrize("both", (False, True))
def test_random_attention_has_nearly_even_weights(length, both):
    rows = []
    for seed in range(8):
        encoder = Encoder("attention", width=32, both=both, seed=seed)
        (layer,) = draw_layers(encoder, 32)
        rows.append(run_attention(encoder, random_words(encoder, length, 32), layer)["weights"][0, 0, -1])
    even = torch.stack(rows) * length
    assert ((even > 0.5) & (even < 2)).double().mean() > 0.85


@pytest.mark.parametrize("gain, course", [(0.5, "vanishes"), (1.0, "vanishes"), (1.5, "explodes")])
def test_an_influence_vanishes_or_explodes_as_it_is_told(gain, course):
    found = hear(Encoder("rnn", width=32, gain=gain))
    left = found.at(19) / found.at(1)
    assert found.factor_per_step() == pytest.approx(left ** (1 / 18))
    assert name_course(found.factor_per_step(), left) == course
    assert "e" not in format_left(left)  # 1.4 × 10⁻⁹, not 1.4e-09


@pytest.mark.parametrize("kind", ("gru", "lstm"))
def test_the_more_a_gate_keeps_the_more_is_left(kind):
    left = [hear(Encoder(kind, width=32, keep=keep)).at(19) for keep in (0, 2, 4)]
    assert left[0] < left[1] / 10 < left[2] / 10


@pytest.mark.parametrize("layers, window", [(1, 3), (8, 5), (16, 7), (1, 7), (16, 3)])
def test_a_convolution_hears_its_receptive_field_and_no_more(layers, window):
    found = hear(Encoder("cnn", width=32, layers=layers, window=window), length=40)
    heard = {distance for distance, much in zip(found.distances, found.mean, strict=True) if much}
    assert heard == {*range(min(40, 1 + layers * (window - 1)))}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_single_draw_has_no_band(lang):
    encoder = Encoder("rnn", width=32, gain=0.9)
    assert all(low == high for low, high in hear(encoder, draws=1).band)
    assert all(low < high for low, high in hear(encoder, draws=8).band[1:])
    texts = load_app_texts(lang)
    assert "{draws}" in texts["lessons.distance.lines_of_many"]
    assert "{draws}" not in texts["lessons.distance.lines_of_one"]


# ---- cost ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("block", (1, 4, 7))
def test_blocks_give_the_output_over_the_keys_that_were_seen(block):
    trace = EXAMPLES["en_it"].run()
    streamed = with_online_softmax(trace, block)
    count = count_blocks(7, block)
    assert (count == 1) == (block == 7)  # a single block is the whole row
    for seen in range(1, count + 1):
        scores, values = trace["masked_scores"][..., : seen * block], trace["v"][..., : seen * block, :]
        torch.testing.assert_close(streamed[f"seen_outputs_{seen}"], scores.softmax(-1) @ values)


@pytest.mark.parametrize("factor", (1, 1000, 20_000))
def test_a_score_is_lost_beyond_the_largest_number_alone(factor):
    assert factor in QUERY_FACTORS
    trace = EXAMPLES["en_it"].run()
    largest = factor * trace["scores"].abs().max().item()
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        scores = attend_qkv((trace["q"] * factor).to(dtype), trace["k"].to(dtype), trace["v"].to(dtype))["scores"]
        assert scores.isinf().any() == (largest > torch.finfo(dtype).max)


def test_the_larger_the_loss_the_fewer_gradients_are_lost():
    lost = []
    for scale in (GRADIENT_SCALES[0], 64, GRADIENT_SCALES[-1]):
        rounded, exact = (trained_gradients(dtype, scale) for dtype in ("float16", "float32"))
        assert rounded.isfinite().all() and (exact != 0).all()
        lost.append((rounded == 0).sum().item())
    assert lost == sorted(lost, reverse=True) and lost[-1] < lost[0] / 2


@pytest.mark.parametrize("length", (64, 1024, 16_384))
def test_what_is_said_of_each_task_holds_at_every_length(length):
    write, serve, latent, stream = (task_cost(task, length) for task in ("write", "serve", "latent", "stream"))
    assert (serve.multiply_adds, 4 * serve.kept) == (write.multiply_adds, write.kept)
    assert latent.multiply_adds == 4 * write.multiply_adds
    assert stream.kept == task_cost("stream", 1).kept
    assert (task_cost("understand", length).waits, write.waits) == (1, length)


# ---- the softmax and its scale ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("temperature", (0.1, 1.0, 10.0))
def test_slopes_are_those_in_the_quotients(temperature):
    """The softmax reads the numbers over τ: in the numbers themselves each slope is 1/τ of that, and it is said."""
    numbers = torch.tensor([2.0, 1.0, 0.0, -1.0], dtype=torch.float64)
    setup = setup_with_scores(numbers.numpy(), temperature=temperature)
    run = trace_for(setup)
    slopes = torch.autograd.functional.jacobian(lambda x: (x / temperature).softmax(0), numbers)
    torch.testing.assert_close(with_jacobian(run)["jacobian"][0, 0, 0] / temperature, slopes)
    loss = torch.autograd.functional.jacobian(lambda x: -(x / temperature).log_softmax(0)[1], numbers)
    torch.testing.assert_close(with_cross_entropy(run, 1)["loss_gradient"][0, 0, 0] / temperature, loss)
    for lang, key in product(LANGUAGES, ("slope", "loss", "row_slope", "row_loss_slopes")):
        told = load_app_texts(lang)[f"lessons.softmax.{key}{name_if_divided(setup)}"]
        assert ("÷ τ" in told) == (temperature != 1)


@pytest.mark.parametrize("count", (5, 20, 100))
@pytest.mark.parametrize("temperature", (0.1, 1.0, 10.0))
def test_the_largest_of_the_first_numbers_gets_its_share(count, temperature):
    numbers = EXAMPLES["softmax_100"].tensor("k")[:count, 0].numpy()
    weights = trace_for(setup_with_scores(numbers, temperature=temperature))["weights"][0, 0, 0]
    powers = [math.exp(number / temperature) for number in numbers]
    share = math.exp(max(numbers) / temperature) / math.fsum(powers)
    assert weights.max().item() == pytest.approx(share) and share > 1 / count
    assert weights.sum().item() == pytest.approx(1)


@pytest.mark.parametrize("limit", (2, 10, 100))
@pytest.mark.parametrize("d_k", (1, 64, 256))
def test_as_many_scores_lie_outside_as_a_normal_law_has_there(limit, d_k):
    found = score_histograms("normal", "independent", d_k, limit)
    for score, deviation in (("dot", math.sqrt(d_k)), ("scaled_dot", 1.0)):
        share = math.erfc(limit / deviation / math.sqrt(2))
        if d_k > 1:  # a single product is not normal
            assert found[score].outside / 5000 == pytest.approx(share, abs=5 * math.sqrt(share / 5000) + 1e-3)
    assert found["scaled_dot"].outside <= found["dot"].outside


@pytest.mark.parametrize("draws", (100, 1000, 5000))
@pytest.mark.parametrize("law", ("normal", "signs", "uniform"))
def test_95_of_100_measured_variances_lie_in_the_band(law, draws):
    for d_k in (1, 16):
        found = [measure_variances(law, "independent", d_k, draws, seed)["dot"] for seed in range(60)]
        assert sum(each.low <= each.measured <= each.high for each in found) >= 51  # of 57 expected, less 3.5 errors


@pytest.mark.parametrize("keys, draws", [(2, 400), (8, 400), (64, 60)])
def test_divided_the_gradient_settles_from_a_width_of_16_on(keys, draws):
    """Undivided it gets less and less beyond the width that is named."""
    found = {2**power: measure_saturation(2**power, keys, draws, seed=5) for power in range(0, 11, 2)}
    divided = {d_k: by_score["scaled_dot"].at_query.median for d_k, by_score in found.items()}
    settled = [median for d_k, median in divided.items() if d_k >= 16]
    assert max(settled) < 1.25 * min(settled)
    if keys == 2:
        assert divided[1] < 0.8 * min(settled)  # not yet at every width
    beyond = [found[d_k]["dot"].at_query.median for d_k in found if d_k >= last_width_of_more(found)]
    assert beyond == sorted(beyond, reverse=True)


@pytest.mark.parametrize("digits", range(4))
def test_rounded_weights_move_no_number_farther_than_is_said(digits):
    trace = attend_qkv(3 * draw(5, 3, 2), draw(6, 3, 2), draw(7, 3, 4))
    rounded = with_rounded_weights(trace, digits)
    moved = (rounded["rounded_outputs"] - trace["head_outputs"]).abs()
    assert (moved <= rounding_reach(rounded, "head_outputs", "weights", digits)).all()
    by_hand = (trace["weights"] * 10**digits).round() / 10**digits
    torch.testing.assert_close(rounded["rounded_weights"], by_hand)


# ---- training --------------------------------------------------------------------------------------------------------
def test_the_first_half_is_guessed_before_the_training_and_worse_after_it():
    chance = 1 / 62  # one of as many symbols
    assert first_share(shipped_figures("copy_two", 0)) == pytest.approx(chance, abs=0.01)
    assert first_share(shipped_figures("copy_two", 200)) < chance / 2
    assert first_share(shipped_figures("copy_two", 500)) < chance / 2


@pytest.mark.parametrize("rate", (OFFERED_LEARNING_RATES[0], COURSES["copy_two"].rate, OFFERED_LEARNING_RATES[-1]))
def test_a_rate_is_what_a_first_step_moves_each_number_by(rate):
    """Adam divides a gradient by its own size, so the first step is the rate, up or down, however large the slope."""
    training = Training("copy_two", 1, rate)
    before = [numbers.detach().clone() for numbers in training.model.parameters()]
    training.advance()
    moved = [(now - then).abs().max().item() for now, then in zip(training.model.parameters(), before, strict=True)]
    assert moved == pytest.approx([rate] * len(moved), rel=0.05)
    assert math.isfinite(training.losses[0])  # what diverges does so in a later step


@pytest.mark.parametrize(("loss", "told"), [(0.0005, "1.000"), (1.5, "0.223"), (6.9, "0.001"), (8.0, "e^(−8.0)")])
def test_a_loss_is_as_large_as_if_p_were_what_is_told(loss, told):
    assert tell_right_share(loss) == told
    power = float(told.strip("e^(−)")) if told.startswith("e") else -math.log(float(told))
    assert power == pytest.approx(loss, abs=0.1)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_jump_is_only_said_of_steps_between(lang, monkeypatch):
    said = []
    monkeypatch.setattr(induction.st, "markdown", said.append)
    two = load_shipped_training("copy_two")
    places = len(two.places)
    for figures, tells in (
        ({0: [0.0] * places, 50: [1.0] * places}, False),  # a large rate
        ({0: [0.0] * places, 50: [0.5] * places, 100: [1.0] * places}, True),
        ({0: [0.0] * places, 50: [0.05] * places, 100: [0.06] * places}, False),  # a small one
    ):
        said.clear()
        own = replace(two, figures=figures, networks=dict.fromkeys(figures, "copy_two"), own=True)
        induction.tell_growth(own)
        assert bool(said) == tells


@pytest.mark.parametrize("kind", ("additive", pytest.param("one", marks=pytest.mark.slow)))
def test_what_is_said_of_letters_holds_after_every_step(kind):
    """Of letters the steps before and after all training come along."""
    record = load_shipped_training(f"reversal_{kind}")
    assert record.steps[0] == 0 and len(record.steps) > 1
    for step in record.steps:
        figures = dict(zip(record.places, shipped_figures(record.course, step), strict=True))
        known = [share for length, share in figures.items() if length <= reversal.LONGEST_TRAINED]
        assert record.mean_at(step, reversal.LONGEST_TRAINED) == pytest.approx(sum(known) / len(known))
        for text in ("a", "abc"):
            result = write_at_step(record, step, text)
            assert result.right == (result.written == text[::-1])
            assert (result.setup is None) == (kind == "one" or not result.written)  # then there is no map
            own = mean_own_share(influence_of_symbols(find_network(record.network_at(step)), text))
            assert own == pytest.approx(1) if len(text) == 1 else 0.1 < own < 0.9


@pytest.mark.parametrize("step", (0, 1000, 5000))
def test_what_is_said_of_heads_and_answers_holds_after_every_step(step):
    """The same head is shown at all steps; off, C's answer is any word; even, each word gets the same."""
    for letter in NETWORKS:
        name = name_network(letter, "en")
        for change in ("own", "even", "off"):
            reading, _ = read_pair(name, step, OFFERED_PAIRS[0], change)
            row, place = reading.trace["weights"][0, reading.head, reading.place.at], reading.place
            assert reading.head == figures_of(letter, "en").head[1]
            assert (reading.answer is None) == (letter == "A")
            assert reading.undecided == (letter == "C" and change == "off")
            if change == "even":
                torch.testing.assert_close(row, torch.full_like(row, 1 / len(row)))
            if change == "own":
                assert reading.shown == (row[place.to] > row[place.others[0]]).item()
            if letter != "A":
                assert reading.right == (reading.answer == place.text.words[place.to])


@pytest.mark.slow
@pytest.mark.parametrize("step", (0, 1000, 5000))
def test_the_shares_of_heads_and_answers_are_those_of_all_pairs(step):
    """All pairs are read in batches, and one pair in fifteen alone, as the page reads it."""
    for letter in NETWORKS:
        name, figures = name_network(letter, "en"), figures_of(letter, "en")
        shown, right = read_pairs_in_batches(load_step(name, step), figures.head)
        assert figures.shown[str(step)] == share_of_both(shown)
        if letter != "A":
            assert figures.answered[str(step)] == share_of_both(right)
        for number in range(0, MEASURED_PAIRS, 15):
            one, other = read_pair(name, step, number)
            assert (one.shown, other.shown) == shown[number], (letter, number)
            if letter != "A":
                assert (one.right, other.right) == right[number], (letter, number)


def read_pairs_in_batches(model, head):
    """For both texts of each held-out pair: whether a head gives the noun that is meant more than the other noun, and
    whether the answer is that noun (False of a model that answers nothing)."""
    (layer, number), numbers = head, word_numbers("en")
    places = pair_places(False, "en", "report")
    shown, right = {}, {}  # by the place itself: a pair may come twice
    for some in pairs_by_length(places):
        words = torch.tensor([[numbers[word] for word in place.text.words] for place in some])
        with torch.inference_mode():
            stack = model.stack(words)
            is_asked = model.shape.answers != "nowhere"
            answers = model.answer_logits(stack, QUESTIONS.index("pronoun")).argmax(-1) if is_asked else None  # (B, T)
        weights = stack[f"{layer + 1}.attention"]["weights"][:, number]  # (B, T, S)
        for at, place in enumerate(some):
            row = weights[at, place.at]
            shown[id(place)] = (row[place.to] > row[place.others[0]]).item()
            right[id(place)] = is_asked and (answers[at, place.at] == words[at, place.to]).item()
    by_pair = [*zip(places[::2], places[1::2], strict=True)]
    return ([tuple(told[id(place)] for place in pair) for pair in by_pair] for told in (shown, right))


def share_of_both(pairs):
    """Of how many pairs something holds of both texts, with the four decimals of the figures."""
    assert len(pairs) == MEASURED_PAIRS
    return round(sum(one and other for one, other in pairs) / len(pairs), 4)
