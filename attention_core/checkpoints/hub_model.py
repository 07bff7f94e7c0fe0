"""Parses names of models on the hub, owner/name@revision, and finds these models in the hub's cache on this machine."""

import re
from dataclasses import dataclass
from pathlib import Path

from attention_core.checkpoints.model_config import CONFIG_FILE
from attention_core.checkpoints.stored_weights import INDEX_FILE, WEIGHTS_FILE
from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.record.errors import AttentionError

PART = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?"
REVISION_PART = "[A-Za-z0-9_][A-Za-z0-9._-]*"
HUB_NAME = re.compile(f"(?P<name>{PART}/{PART})(?:@(?P<revision>{REVISION_PART}(?:/{REVISION_PART})*))?")
TWICE = ("..", "--")  # no name on the hub contains these; a folder of its cache is owner--name
MAX_NAME, MAX_REVISION = 96, 100  # characters
MAIN = "main"


@dataclass(frozen=True)
class HubModel:
    """A model of the hub. name: owner/name. revision: a branch, a tag or a commit."""

    name: str
    revision: str = MAIN

    def __str__(self) -> str:
        """Return the name, and the revision unless it is the main branch."""
        return self.name if self.revision == MAIN else f"{self.name}@{self.revision}"


def read_hub_name(text: str) -> HubModel:
    """Return the model that a text names, such as google-bert/bert-base-uncased or owner/name@v1.0.

    Raises AttentionError: hub_name.

    >>> read_hub_name("owner/name@v1.0")
    HubModel(name='owner/name', revision='v1.0')
    """
    found = HUB_NAME.fullmatch(text) if len(text) <= MAX_NAME + MAX_REVISION + 1 else None
    name, revision = (found["name"], found["revision"] or MAIN) if found else ("", MAIN)
    is_short = 0 < len(name) <= MAX_NAME and len(revision) <= MAX_REVISION
    if not is_short or any(sign in name for sign in TWICE) or ".." in revision:
        raise AttentionError("hub_name", given=printable_name(text))
    return HubModel(name, revision)


def find_cached(model: HubModel) -> Path | None:
    """Return the folder of a model in the hub's cache on this machine; None if the cache lacks it or a part of it.

    No request is sent to the hub. Raises AttentionError: models_package.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ImportError:
        raise AttentionError("models_package", name="huggingface_hub") from None
    config = [CONFIG_FILE]  # weights are one file, or several files with an index
    try:
        folder = Path(
            snapshot_download(model.name, revision=model.revision, local_files_only=True, allow_patterns=config)
        )
    except LocalEntryNotFoundError:
        return None
    has_weights = any((folder / name).exists() for name in (WEIGHTS_FILE, INDEX_FILE))
    return folder if has_weights and (folder / CONFIG_FILE).exists() else None
