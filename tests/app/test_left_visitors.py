"""When connections have ended, memory is given back: once for all that end together, and for no other request."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from pages.app import left_visitors


@pytest.fixture
def given_back(monkeypatch) -> list[bool]:
    """As often as memory was given back."""
    times = []
    monkeypatch.setattr(left_visitors, "give_back", lambda: times.append(True))
    monkeypatch.setattr(left_visitors, "PAUSE", 0.05)
    return times


def after(kinds: list[str], app) -> None:
    """Connections of these kinds begin and end; then comes twice the pause."""
    visitors = left_visitors.LeftVisitors(app)

    async def connect():
        for kind in kinds:
            try:
                await visitors({"type": kind}, None, None)
            except ConnectionError:
                continue
        await asyncio.sleep(0.2)

    with ThreadPoolExecutor(max_workers=1) as thread:  # a browser test may have left a loop running in this one
        thread.submit(asyncio.run, connect()).result()


async def ends(scope, receive, send):
    """A connection that ends at once."""


async def breaks(scope, receive, send):
    """A connection that ends with an error."""
    raise ConnectionError


@pytest.mark.parametrize(
    ("kinds", "app", "times"),
    [
        (["websocket"], ends, 1),
        (["websocket"], breaks, 1),
        (["websocket"] * 20, ends, 1),
        (["http", "lifespan"], ends, 0),
    ],
)
def test_memory_is_given_back_once_after_connections(given_back, kinds, app, times):
    after(kinds, app)
    assert len(given_back) == times


def test_it_is_given_back_again_after_the_next_one(given_back):
    after(["websocket"], ends)
    after(["websocket"], ends)
    assert len(given_back) == 2
