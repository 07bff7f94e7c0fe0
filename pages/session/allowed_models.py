"""Decides which model folders a visitor may open: the administrator's, or any in an app of one's own.

An app is one's own if it listens on the loopback interface alone, has no public address, and never got a request that a
proxy handed on.
"""

import os
from pathlib import Path

import streamlit as st

from pages.session.addresses import LOCAL_HOSTS, is_local
from pages.site.forwarding import FORWARDED
from pages.site.settings import ADDRESS, MODELS

CONFIG_NAME = "config.json"  # a folder with this file is offered as a model
MAX_OFFERED = 200  # folders that are listed


def may_open_any() -> bool:
    """Returns whether this visitor may open any folder of this machine: only in an app of one's own."""
    listens_here = st.get_option("server.address") in LOCAL_HOSTS
    is_public = bool(os.environ.get(ADDRESS, "").strip()) or FORWARDED.is_set()
    return listens_here and not is_public and is_local(st.context.url or "")


def allowed_roots() -> list[Path]:
    """Returns the administrator's folders with models, from the environment variable ATTENTION_MODELS."""
    given = os.environ.get(MODELS, "").split(os.pathsep)
    return [Path(folder).expanduser() for folder in given if folder.strip()]


def list_offered(roots: list[Path]) -> dict[str, Path]:
    """Returns {name: folder} of the models directly in some folders, in alphabetical order, at most MAX_OFFERED.

    A name is that of the folder; if it occurs twice, with the name of the folder above.
    """
    inside = [path for root in roots if root.is_dir() for path in root.iterdir()]
    folders = sorted(path for path in inside if (path / CONFIG_NAME).is_file())[:MAX_OFFERED]
    names = [folder.name for folder in folders]
    offered = {}
    for folder in folders:
        name = folder.name if names.count(folder.name) == 1 else f"{folder.parent.name}/{folder.name}"
        offered[name] = folder
    return offered
