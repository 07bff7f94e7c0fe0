"""Parses names of models on the hub, owner/name@revision, and finds these models in the hub's cache on this machine."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from attention_core.checkpoints.folder_files import HUB_PREFIX, cached_model, find_folder
from attention_core.checkpoints.model_config import CONFIG_FILE
from attention_core.checkpoints.stored_weights import INDEX_FILE, WEIGHTS_FILE, read_index
from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.record.errors import AttentionError

PART = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?"
REVISION_PART = "[A-Za-z0-9_][A-Za-z0-9._-]*"
HUB_NAME = re.compile(f"(?P<name>{PART}/{PART})(?:@(?P<revision>{REVISION_PART}(?:/{REVISION_PART})*))?")
PARTED = "--"  # replaces the / of a model's name in folder names of the hub's cache
TWICE = ("..", PARTED)  # no model name contains these
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


def find_snapshot(model: HubModel) -> Path | None:
    """Return the folder of a model in the hub's cache, even if it lacks files; None if there is none.

    No request is sent to the hub. Raises AttentionError: models_package.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ImportError:
        raise AttentionError("models_package", name="huggingface_hub") from None
    config = [CONFIG_FILE]  # the weights are one file, or an index and the files that the index names
    try:
        return Path(
            snapshot_download(model.name, revision=model.revision, local_files_only=True, allow_patterns=config)
        )
    except LocalEntryNotFoundError:
        return None


def list_absent_files(folder: Path) -> tuple[str, ...]:
    """Return the names of missing files in a model's folder: the config, the weights, or files that the index of the
    weights names.

    A link to a file that does not exist counts as absent. An index that cannot be read names no files; open_folder
    says what is wrong with it.
    """
    needed = [CONFIG_FILE]
    if (folder / WEIGHTS_FILE).exists() or not (folder / INDEX_FILE).exists():
        needed.append(WEIGHTS_FILE)
    else:
        with suppress(AttentionError):
            needed += sorted(set(read_index(find_folder(folder)).values()))
    return tuple(name for name in needed if not (folder / name).exists())


def find_named(folder: Path) -> HubModel | None:
    """Return the name and commit of the model whose folder in the hub's cache is given; None for any other folder.

    Raises AttentionError: models_package.
    """
    try:
        from huggingface_hub import constants
    except ImportError:
        raise AttentionError("models_package", name="huggingface_hub") from None
    with suppress(OSError, ValueError):  # not a folder of the cache
        real = Path(os.path.realpath(folder.expanduser()))
        kept, cache = cached_model(real), Path(os.path.realpath(Path(constants.HF_HUB_CACHE).expanduser()))
        if kept is not None and kept.parent == cache and real.is_dir():
            name = kept.name.removeprefix(HUB_PREFIX).replace(PARTED, "/")
            return read_hub_name(f"{name}@{real.name}")
    return None
