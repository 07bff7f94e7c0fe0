"""Visitors who each change something every two seconds, all with something else in mind."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from time import perf_counter

import numpy as np

from tests.benchmarks.visitor import Run, Visitor, visiting

PAUSE = 2.0  # seconds between two changes of a visitor
TOKENS, HEADS = 7, 2  # of the first screen
TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
WORDS = ("Anna", "Tom", "she", "he", "it", "dog", "cat", "fed", "read", "barked", "and", "then", "the", "laughed")
KINDS = {"word": 0.45, "cell": 0.25, "mask": 0.1, "temperature": 0.11, "sentence": 0.09}  # 70 % looking, 30 % changing


class Habits:
    """What one visitor does, drawn from a seed: looks around most, sometimes computes, sometimes types anew."""

    def __init__(self, visitor: Visitor, seed: int):
        self.visitor, self.draws = visitor, np.random.default_rng(seed)

    async def change(self) -> Run:
        """The next change."""
        return await getattr(self, self.draws.choice(list(KINDS), p=list(KINDS.values())))()

    def position(self) -> int:
        return int(self.draws.integers(TOKENS))

    async def word(self) -> Run:
        return await self.visitor.look_at(self.position())

    async def cell(self) -> Run:
        return await self.visitor.click_cell(int(self.draws.integers(HEADS)), self.position(), self.position())

    async def mask(self) -> Run:
        return await self.visitor.switch_causal(bool(self.draws.integers(2)))

    async def temperature(self) -> Run:
        return await self.visitor.move_temperature(float(self.draws.choice(TEMPERATURES)))

    async def sentence(self) -> Run:
        return await self.visitor.type_sentence(" ".join(self.draws.choice(WORDS, TOKENS)))


async def crowd(address: str, size: int, changes: int, begin: Callable[[], None] = lambda: None) -> list[float]:
    """So many visitors, so many changes each; the seconds from when a change was due to its end, all visitors'.

    begin: called when all of them have the page before them.

    A visitor whose last change still runs comes late with the next one: that wait counts as well.
    """
    async with AsyncExitStack() as stack:
        habits = [Habits(await stack.enter_async_context(visiting(address)), seed) for seed in range(size)]
        begin()
        start = perf_counter() + 0.5
        waits = await asyncio.gather(*(visit(each, start + PAUSE * n / size, changes) for n, each in enumerate(habits)))
    return [wait for each in waits for wait in each]


async def visit(habits: Habits, first: float, changes: int) -> list[float]:
    """One visitor's waits; the changes are due every two seconds from `first` on."""
    waits = []
    for due in dues(first, changes):
        await asyncio.sleep(max(due - perf_counter(), 0))
        await habits.change()
        waits.append(perf_counter() - due)
    return waits


def dues(first: float, changes: int) -> Iterator[float]:
    """When the changes are due."""
    yield from (first + PAUSE * n for n in range(changes))
