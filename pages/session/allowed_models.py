"""Decides which models a visitor may open or download: in a private app any, else those that the administrator names.

An app is private if it listens on the loopback interface alone, has no public address, and never got a request that a
proxy forwarded.
"""

import os
from itertools import chain, product
from pathlib import Path

import streamlit as st

from attention_core.checkpoints.folder_files import HUB_PREFIX, HUB_SNAPSHOTS
from attention_core.checkpoints.hub_model import HubModel, read_hub_name
from pages.session.addresses import LOCAL_HOSTS, is_local
from pages.site.forwarding import FORWARDED
from pages.site.settings import ADDRESS, HUB_MODELS, MODELS

# Where a model's config.json may be: directly in a folder, or in a revision inside the cache of the Hugging Face hub.
PATTERNS = ("*/config.json", f"{HUB_PREFIX}*/{HUB_SNAPSHOTS}/*/config.json")
MAX_OFFERED = 200  # most folders that the page lists


def may_open_any() -> bool:
    """Returns whether this visitor may open any folder and download any model, because the app is private."""
    listens_here = st.get_option("server.address") in LOCAL_HOSTS
    is_public = bool(os.environ.get(ADDRESS, "").strip()) or FORWARDED.is_set()
    return listens_here and not is_public and is_local(st.context.url or "")


def allowed_roots() -> list[Path]:
    """Returns the folders with models that the administrator names in the environment variable ATTENTION_MODELS."""
    given = os.environ.get(MODELS, "").split(os.pathsep)
    return [Path(folder).expanduser() for folder in given if folder.strip()]


def allowed_hub_models() -> list[HubModel]:
    """Returns the models of the hub in the environment variable ATTENTION_HUB_MODELS.

    Raises AttentionError (hub_name) for an invalid name.
    """
    return [read_hub_name(name) for name in os.environ.get(HUB_MODELS, "").split()]


def list_offered(roots: list[Path]) -> dict[str, Path]:
    """Returns {name: folder} of the models found in some folders, in alphabetical order, at most MAX_OFFERED.

    In a cache of the Hugging Face hub, each revision is a model. The name is that of the folder; for a revision, or if
    a name occurs twice, the name of the parent folder comes first. A folder that cannot be read is skipped.
    """
    found = [find_models(root, pattern) for root, pattern in product(roots, PATTERNS)]
    folders = sorted(set(chain.from_iterable(found)))[:MAX_OFFERED]
    names = [folder.name for folder in folders]
    offered = {}
    for folder in folders:
        above = folder.parent.parent if folder.parent.name == HUB_SNAPSHOTS else folder.parent
        is_plain = names.count(folder.name) == 1 and above == folder.parent
        offered[folder.name if is_plain else f"{above.name}/{folder.name}"] = folder
    return offered


def find_models(root: Path, pattern: str) -> list[Path]:
    """Returns the folders below `root` whose config file matches a glob pattern; [] if `root` cannot be read."""
    try:
        return [path.parent for path in root.glob(pattern) if path.is_file()]
    except OSError:
        return []
