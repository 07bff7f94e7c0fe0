"""Training: how long until dates are written, and a step against the same network written plainly in torch."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter

import torch
from torch import Tensor, nn

from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.training import Training
from tests.benchmarks.figures import Figure, against, alternately, report

SEEDS, RIGHT, EVERY = (1, 2, 3), 0.95, 10  # after so many steps it is measured how many dates are right
STEPS, SEED = 5, 1  # of a measure
MOST = 1.1  # times the plain one's
PAD = -1


# ---- the same networks, plainly --------------------------------------------------------------------------------------
class Writer(nn.Module):
    """Reads a text from both sides and writes another, with dot or additive attention."""

    def __init__(self, source: int, target: int, additive: bool):
        super().__init__()
        self.end = target
        self.read, self.written = nn.Embedding(source, 32), nn.Embedding(target + 1, 32)
        self.onward, self.back = nn.GRU(32, 32, batch_first=True), nn.GRU(32, 32, batch_first=True)
        self.decoder = nn.GRU(32, 64, batch_first=True)
        if additive:
            self.w_aq, self.w_ak = nn.Parameter(torch.zeros(64, 32)), nn.Parameter(torch.zeros(64, 32))
            self.v_a = nn.Parameter(torch.zeros(32))
        self.additive = additive
        self.joined, self.out = nn.Linear(128, 64), nn.Linear(64, target + 1)

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """The mean surprise of what is to be written."""
        there = source != PAD
        rows, lengths = torch.arange(len(source)), there.sum(-1)
        places = torch.arange(source.shape[1])
        back = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)  # (B, S)
        x = self.read(source.clamp(min=0))
        onward, _ = self.onward(x)
        backward, _ = self.back(x[rows[:, None], back])
        whole = torch.cat((onward[rows, lengths - 1], backward[rows, lengths - 1]), -1)
        keys = torch.cat((onward, backward[rows[:, None], back]), -1)  # (B, S, 64)
        ends = (target != PAD).sum(-1)
        wanted = torch.cat((target, torch.full((len(target), 1), PAD)), -1)
        wanted[rows, ends] = self.end
        given = torch.cat((torch.full((len(target), 1), self.end), target.clamp(min=0)), -1)
        states, _ = self.decoder(self.written(given), whole[None])
        if self.additive:
            hidden = torch.tanh((states @ self.w_aq)[:, :, None] + (keys @ self.w_ak)[:, None])  # (B, T, S, 32)
            scores = hidden @ self.v_a
        else:
            scores = states @ keys.transpose(1, 2)
        weights = scores.masked_fill(~there[:, None], -math.inf).softmax(-1)  # (B, T, S)
        logits = self.out(torch.tanh(self.joined(torch.cat((states, weights @ keys), -1))))
        return nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)


class Layer(nn.Module):
    """Two heads of width 16, turned by RoPE, causal."""

    def __init__(self):
        super().__init__()
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Parameter(torch.zeros(32, 32)) for _ in range(4))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, later: Tensor) -> Tensor:
        """What is added to x."""
        q, k, v = ((x @ w).unflatten(-1, (2, 16)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        scores = (q @ k.transpose(-1, -2) / 4).masked_fill(later, -math.inf)  # (B, 2, T, T)
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ self.w_o


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Neighbours turned together."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


class Copier(nn.Module):
    """Two such layers, their angles and their mask worked out once."""

    def __init__(self, symbols: int, longest: int):
        super().__init__()
        self.read, self.layers = nn.Embedding(symbols, 32), nn.ModuleList((Layer(), Layer()))
        self.out = nn.Parameter(torch.zeros(32, symbols))
        angles = torch.arange(longest)[:, None] * 10000.0 ** (-torch.arange(8) / 8)  # (T, 8)
        self.cos, self.sin = angles.cos(), angles.sin()
        self.later = torch.ones(longest, longest, dtype=torch.bool).triu(1)

    def loss(self, symbols: Tensor) -> Tensor:
        """The mean surprise of the second half."""
        T, half = symbols.shape[1] - 1, symbols.shape[1] // 2
        x = self.read(symbols[:, :-1])
        for layer in self.layers:
            x = x + layer(x, self.cos[:T], self.sin[:T], self.later[:T, :T])
        logits = (x @ self.out)[:, half:]
        return nn.functional.cross_entropy(logits.flatten(0, 1), symbols[:, half + 1 :].flatten())


class Classifier(nn.Module):
    """One learned query that asks a text."""

    def __init__(self, symbols: int, classes: int):
        super().__init__()
        self.symbol, self.before = nn.Embedding(symbols, 16), nn.Embedding(symbols + 1, 16)
        self.query, self.b_o = nn.Parameter(torch.zeros(1, 16)), nn.Parameter(torch.zeros(classes))
        self.w_q, self.w_k, self.w_v = (nn.Parameter(torch.zeros(16, 16)) for _ in range(3))
        self.w_o = nn.Parameter(torch.zeros(16, classes))

    def loss(self, symbols: Tensor, classes: Tensor) -> Tensor:
        """The mean surprise of the right class."""
        first = torch.full((len(symbols), 1), self.before.num_embeddings - 1)
        before = torch.cat((first, symbols[:, :-1].clamp(min=0)), -1)
        x = self.symbol(symbols.clamp(min=0)) + self.before(before)  # (B, S, 16)
        q = (self.query @ self.w_q).expand(len(symbols), 1, 16)
        scores = (q @ (x @ self.w_k).transpose(1, 2) / 4).masked_fill((symbols == PAD)[:, None], -math.inf)
        logits = (scores.softmax(-1) @ (x @ self.w_v))[:, 0] @ self.w_o + self.b_o
        return nn.functional.cross_entropy(logits, classes)


PLAIN: dict[str, Callable[..., nn.Module]] = {
    "dates_additive": lambda source, target: Writer(source, target, additive=True),
    "dates_dot": lambda source, target: Writer(source, target, additive=False),
    "copy_two": lambda symbols: Copier(symbols, longest=47),
    "lookup": lambda symbols: Classifier(symbols, classes=8),
}


# ---- a step ----------------------------------------------------------------------------------------------------------
def both(course: str) -> tuple[Callable[[], float], Callable[[], float]]:
    """The same training twice: numbers, batches and optimiser. Each call makes a step and says its loss."""
    ours = Training(course, SEED)
    plain = PLAIN[course](*map(len, ours.course.alphabets))
    plain.load_state_dict(ours.model.state_dict())
    optimiser = torch.optim.Adam(plain.parameters(), ours.course.rate)
    generator = torch.Generator()
    generator.set_state(ours.generator.get_state())

    def our_step() -> float:
        ours.advance()
        return ours.losses[-1]

    def plain_step() -> float:
        loss = plain.loss(*ours.course.batch(generator))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss.item()

    return our_step, plain_step


def timed(step: Callable[[], float]) -> float:
    """Seconds of a few steps."""
    start = perf_counter()
    for _ in range(STEPS):
        step()
    return perf_counter() - start


def stepwise(course: str, runs: int) -> Figure:
    """Both in turn. The first steps show that they are the same."""
    ours, plain = both(course)
    torch.testing.assert_close([ours() for _ in range(STEPS)], [plain() for _ in range(STEPS)], rtol=1e-4, atol=1e-5)
    taken, floor = alternately(runs, lambda: timed(ours), lambda: timed(plain))
    rate = f"{STEPS / median(taken):.0f} steps a second"
    return against(f"{STEPS} training steps of {course} against plain torch, one thread ({rate})", taken, floor, MOST)


# ---- until it can ----------------------------------------------------------------------------------------------------
def until_right(seed: int) -> tuple[float, int]:
    """Seconds and steps until so many held-out dates are written exactly; to measure that takes no time."""
    training, seconds, right = Training("dates_additive", seed), 0.0, 0.0
    training.course.batch(torch.Generator())  # the dates are drawn once for all
    while right < RIGHT and not training.done:
        start = perf_counter()
        for _ in range(EVERY):
            training.advance()
        seconds += perf_counter() - start
        with torch.inference_mode():
            figures = COURSES["dates_additive"].measure(training.model)
        right = sum(figures) / len(figures)
    return (seconds if right >= RIGHT else math.inf), training.step


def learning() -> Figure:
    """The median of a few seeds."""
    taken = [until_right(seed) for seed in SEEDS]
    seconds, steps = median(each for each, _ in taken), " ".join(str(steps) for _, steps in taken)
    what = f"training until {RIGHT:.0%} of held-out dates are written exactly, additive attention, one thread"
    return Figure(what, "–", f"{seconds:.1f} s ({steps} steps)")


@contextmanager
def one_thread() -> Iterator[None]:
    """As the app trains beside other visitors."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def measure(runs: int) -> Iterator[Figure]:
    """To the goal, and step by step."""
    with one_thread():
        yield learning()
        yield from (stepwise(course, runs) for course in PLAIN)


if __name__ == "__main__":
    report([measure])
