"""Fixtures of the tests that use the app without a browser, and models in folders."""

from pathlib import Path

import pytest

from tests.screen.fixtures import (  # noqa: F401
    a_page_is_drawn_at_once,
    every_change_draws_the_whole_page,
    labels_are_read_in_the_language_of_the_screen,
)


@pytest.fixture(scope="module")
def models(request, tmp_path_factory) -> dict:
    """{family: its folder and the model in it} for the FAMILIES of a module of tests: {family: name of its class}."""
    from tests.checkpoints.folders import save_folder  # imports transformers, which most tests here do not need

    root: Path = tmp_path_factory.mktemp("models")
    families = request.module.FAMILIES
    return {family: (root / family, save_folder(root / family, name)) for family, name in families.items()}


@pytest.fixture
def allowed_models(models, monkeypatch):
    """The administrator allows the folder above the models."""
    folder, _ = next(iter(models.values()))
    monkeypatch.setenv("ATTENTION_MODELS", str(folder.parent))
