"""How often Hypothesis tries a property: a little in every run, very often in one by hand."""

from collections.abc import Collection

from hypothesis import Phase, settings

BY_HAND = 100_000  # the profile "many": pytest --hypothesis-profile=many


def often(usual: int, by_hand: int = BY_HAND, phases: Collection[Phase] = tuple(Phase)) -> settings:
    """So many examples in every run, and so many under the profile "many"."""
    return settings(max_examples=by_hand if settings.default.max_examples >= BY_HAND else usual, phases=phases)
