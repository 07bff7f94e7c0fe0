"""A config is a value: it can be compared, hashed, kept and sent, and nobody changes what was checked."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend
from attention_core.mechanism.masks import MASKS, Mask
from attention_core.mechanism.parameters import KEY_COUNT, KEY_PLACE, Parameter
from attention_core.mechanism.positions import POSITIONS, Position
from attention_core.record.trace import Faces

CHOSEN = {
    "nothing": {},
    "names": {"masks": ["causal"], "positions": ["sinusoidal", "rope", "alibi"]},
    "numbers": {"masks": [("local", {"window": 2}), ("causal", {"offset": -3})], "score": "cosine"},
    "lists": {"masks": [("padding", {"lengths": [5, 2]}), ("local_global", {"window": 1, "global_tokens": [0, 3]})]},
    "slopes": {"positions": [("alibi", {"slopes": [0.5, 0.25]}), ("rope", {"style": "half", "base": 50})]},
}


@pytest.fixture(params=CHOSEN.values(), ids=CHOSEN)
def chosen(request) -> dict:
    return request.param


# ---- a value ---------------------------------------------------------------------------------------------------------
def test_equal_configs_have_one_hash(chosen):
    one, other = AttentionConfig(**chosen), AttentionConfig(**chosen)
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert one != AttentionConfig(masks=[("local", {"window": 5})])


def test_the_order_of_parameters_makes_no_difference():
    orders = ({"window": 1, "global_tokens": (0, 3)}, {"global_tokens": (0, 3), "window": 1})
    one, other = (AttentionConfig(masks=[("local_global", params)]) for params in orders)
    assert one == other and hash(one) == hash(other)


def test_a_config_comes_back_from_a_pickle_a_copy_and_a_replacement(chosen):
    config = AttentionConfig(**chosen)
    unpickled = pickle.loads(pickle.dumps(config))  # noqa: S301
    for same in (unpickled, copy.deepcopy(config), replace(config)):
        assert same == config and hash(same) == hash(config) and repr(same) == repr(config)
    hotter = replace(config, temperature=2.0)
    assert (hotter.masks, hotter.positions) == (config.masks, config.positions) and hotter != config


def test_parameters_are_printed_and_compared_as_dicts():
    config = AttentionConfig(masks=["causal", ("local_global", {"window": 1, "global_tokens": [0, 3]})])
    assert repr(config.masks) == "(('causal', {}), ('local_global', {'window': 1, 'global_tokens': (0, 3)}))"
    assert config.masks == (("causal", {}), ("local_global", {"global_tokens": (0, 3), "window": 1}))
    assert {**config.masks[1][1]} == {"window": 1, "global_tokens": (0, 3)}


# ---- and read-only ---------------------------------------------------------------------------------------------------
def test_what_was_checked_stays_as_it_is():
    given = {"window": 2}
    config = AttentionConfig(masks=[("local", given)], positions=["rope"])
    given["window"] = -5
    for _, params in (*config.masks, *config.positions):
        with pytest.raises(TypeError):
            params["window"] = -5
        with pytest.raises(TypeError):
            del params["window"]
        with pytest.raises(FrozenInstanceError):
            params.pairs = ()
    assert config == AttentionConfig(masks=[("local", {"window": 2})], positions=["rope"])


# ---- a mask's parameters are declared beside it ----------------------------------------------------------------------
def dilated(scores, *, window, dilation, query_offset):
    """Keys that lie a whole number of dilations back."""
    T, S = scores.shape[-2:]
    back = torch.arange(T)[:, None] + query_offset - torch.arange(S)
    return ((back % dilation == 0) & (back.abs() <= window * dilation))[None, None]


FACES = Faces(dilated, dilated, dilated, dilated)
WINDOW, DILATION = Parameter("window", least=0), Parameter("dilation", least=1)


def test_a_registered_mask_is_checked_by_its_declarations(monkeypatch):
    monkeypatch.setitem(MASKS, "dilated", Mask(FACES, (WINDOW, DILATION)))
    monkeypatch.setitem(MASKS, "several", Mask(FACES, (WINDOW, replace(DILATION, several=True))))
    assert AttentionConfig(masks=[("dilated", {"window": 0, "dilation": 1})]).masks[0][1]["dilation"] == 1
    for name, params, code in (
        ("dilated", {"window": 2, "dilation": 0}, "positive_integer"),
        ("dilated", {"window": -1, "dilation": 1}, "not_negative"),
        ("dilated", {"window": 1, "dilation": 1.5}, "positive_integer"),
        ("dilated", {"window": 1}, "missing_parameter"),
        ("dilated", {"window": 1, "dilation": 1, "query_offset": 0}, "unknown_parameter"),
        ("several", {"window": 1, "dilation": 1}, "not_listed"),
        ("several", {"window": 1, "dilation": (2, 0)}, "positive_integer"),
    ):
        with pytest.raises(AttentionError) as refused:
            AttentionConfig(masks=[(name, params)])
        assert refused.value.code == code, params


def shown(scores, *, start, count):
    """Keys from `start` on, the first `count` of all."""
    key = torch.arange(scores.shape[-1])
    return ((key >= start) & (key < count))[None, None, None]


START, COUNT = Parameter("start", moves=KEY_PLACE), Parameter("count", moves=KEY_COUNT)


@pytest.mark.parametrize(
    "refused, sentence",
    [
        ({"start": 7}, "start must lie between 0 and 6, the last position: got 7"),
        ({"start": -1}, "start must lie between 0 and 6, the last position: got -1"),
        ({"count": 8}, "count must lie between 0 and S = 7: got 8"),
        ({"count": -1}, "count must lie between 0 and S = 7: got -1"),
    ],
)
def test_a_parameter_that_names_or_counts_keys_is_refused_by_its_own_name(refused, sentence, monkeypatch):
    """One number for all sequences, too."""
    mask = Mask(Faces(shown, shown, shown, shown), (START, COUNT), uses_position=False)
    monkeypatch.setitem(MASKS, "shown", mask)
    x = torch.eye(7)
    attend(x, config=AttentionConfig(masks=[("shown", {"start": 0, "count": 7})]))
    with pytest.raises(AttentionError) as error:
        attend(x, config=AttentionConfig(masks=[("shown", {"start": 6, "count": 1} | refused)]))
    assert str(error.value) == sentence and error.value.values["owner"] == "shown"


OTHERS = [(), (WINDOW,), (WINDOW, DILATION, Parameter("lengths")), (WINDOW, WINDOW)]


@pytest.mark.parametrize("declared", OTHERS, ids=str)
def test_a_mask_that_declares_other_parameters_than_it_takes_is_no_mask(declared):
    with pytest.raises(ValueError, match="dilated takes dilation, query_offset, window"):
        Mask(FACES, declared)
    with pytest.raises(ValueError, match="dilated takes dilation, query_offset, window"):
        Mask(FACES, (WINDOW, DILATION), uses_position=False)


def test_a_least_value_is_one_that_a_sentence_can_say():
    with pytest.raises(ValueError, match="least"):
        Parameter("window", least=2)


@pytest.mark.parametrize("name", MASKS)
def test_every_mask_names_what_it_needs(name):
    assert MASKS[name].needs == tuple(parameter.name for parameter in MASKS[name].parameters)


# ---- and so are a position's -----------------------------------------------------------------------------------------
TURNING = {"style": "interleaved", "base": 10000.0, "scaling": "none", "factor": 1.0, "trained": 4096}
TURNING |= {"mscale": 1.0, "mscale_all_dim": 0.0, "columns": None, "pair_factors": None}
USUAL = {
    "sinusoidal": {"base": 10000.0},
    "rope": TURNING,
    "decoupled_rope": TURNING,
    "alibi": {"slopes": None},
    "t5": {"direction": "both", "farthest": 128},
}


@pytest.mark.parametrize("name", POSITIONS)
def test_a_position_without_parameters_has_the_usual_ones(name):
    assert dict(AttentionConfig(positions=[name]).positions)[name] == USUAL.get(name, {})


def bent(x, *, strength, kind, first_position):
    """Some position with a number and a word."""
    return x * strength


BENT = Faces(bent, bent, bent, bent)
STRENGTH = Parameter("strength", is_whole=False, is_positive=True)
KIND = Parameter("kind", words=("up", "down"), usual="up")


def test_a_registered_position_is_checked_by_its_declarations(monkeypatch):
    monkeypatch.setitem(POSITIONS, "bent", Position(BENT, "heads", (STRENGTH, KIND)))
    config = AttentionConfig(positions=[("bent", {"strength": 2})])
    assert config.positions == (("bent", {"strength": 2.0, "kind": "up"}),)
    for params, code in (
        ({}, "missing_parameter"),
        ({"strength": 0}, "positive_number"),
        ({"strength": float("nan")}, "finite_number"),
        ({"strength": None}, "finite_number"),
        ({"strength": True}, "finite_number"),
        ({"strength": 1, "kind": "left"}, "unknown_choice"),
        ({"strength": 1, "first_position": 3}, "unknown_parameter"),
    ):
        with pytest.raises(AttentionError) as refused:
            AttentionConfig(positions=[("bent", params)])
        assert refused.value.code == code, params


@pytest.mark.parametrize(("place", "declared"), [("heads", ()), ("heads", (STRENGTH,)), ("bias", (STRENGTH, KIND))])
def test_a_position_that_declares_other_parameters_than_it_takes_is_no_position(place, declared):
    with pytest.raises(ValueError, match="bent takes first_position, kind, strength"):
        Position(BENT, place, declared)
