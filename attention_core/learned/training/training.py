"""Trains a network step by step; a seed always gives the same weights, even if the training is interrupted."""

import math

import torch
from torch import Generator, nn

from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.snapshots import TRAINING_DEVICES, Network, NetworkRecipe
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.errors import AttentionError


class Training:
    r"""A network in training by Adam (Kingma, Ba 2015) on the mean cross-entropy of the right answers.

    course: a key of COURSES. seed: determines the initial weights and the batches. rate: the learning rate of Adam;
    None for the course's rate. device: "cpu" or "cuda", on which the network runs. Random numbers come from the CPU, so
    that a seed gives the same batches on both devices.

    Raises AttentionError: unknown_choice.

    >>> training, again = Training("vote", seed=1), Training("vote", seed=1)
    >>> training.advance(), again.advance()
    (None, None)
    >>> training.step, training.losses == again.losses
    (1, True)
    """

    def __init__(self, course: str, seed: int = 0, rate: float | None = None, device: str = "cpu"):
        require_one_of("course", course, tuple(COURSES))
        require_one_of("device", device, TRAINING_DEVICES)
        self.name = course
        self.seed = seed
        self.device = device
        self.course = COURSES[course]
        self.generator = Generator().manual_seed(seed)
        self.model: nn.Module = self.course.make(self.generator).to(device)
        if rate is None:
            rate = self.course.rate
        self.rate = None if rate == self.course.rate else rate  # None if it is the course's rate
        self.optimiser = torch.optim.Adam(self.model.parameters(), rate)
        self.losses: list[float] = []
        self.saved: list[Network] = []
        self.save()

    @property
    def step(self) -> int:
        """The number of completed steps."""
        return len(self.losses)

    @property
    def recipe(self) -> NetworkRecipe:
        """The NetworkRecipe of the network at the current step of its training."""
        return NetworkRecipe(
            self.name,
            self.seed,
            self.step,
            self.rate,
            self.device,
        )

    @property
    def done(self) -> bool:
        """Whether the training has made its last step."""
        return self.step >= self.course.saved[-1]

    def advance(self) -> None:
        """Make one training step; save a checkpoint if the course requires one after this step.

        Raises AttentionError: training_diverged.
        """
        loss = self.compute_loss()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.losses.append(loss.item())
        if self.step in self.course.saved:
            self.save()

    def compute_loss(self) -> torch.Tensor:
        """Compute the loss of the next batch.

        Raises AttentionError: training_diverged, if the loss is not finite.
        """
        drawn = self.course.batch(self.generator)
        batch = [part.to(self.device) for part in drawn]
        try:
            loss = self.model.loss(*batch)
        except AttentionError as refusal:
            # raised by attention for numbers that are not finite
            raise AttentionError("training_diverged", step=self.step + 1) from refusal
        if not math.isfinite(loss.item()):
            raise AttentionError("training_diverged", step=self.step + 1)
        return loss

    def save(self) -> None:
        """Save a checkpoint of the network at its present step."""
        network = Network.of(self.recipe, self.model)
        self.saved.append(network)
