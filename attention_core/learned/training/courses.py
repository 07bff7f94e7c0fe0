"""Lists the trainings ("courses") of small networks by name: each has a network, batches, and a measure of accuracy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from torch import Generator, Tensor, nn

from attention_core.learned.models.classifier import Classifier
from attention_core.learned.models.copier import Copier
from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.symbols import PAD, Alphabet
from attention_core.learned.tasks import dates, evidence, repeats, reversal
from attention_core.learned.tasks.texts import SourceTargetTexts, share_exact

Figures = tuple[float, ...]


@dataclass(frozen=True)
class Course:
    """A training of a network for one task.

    alphabets: the alphabet of the input and, for an encoder-decoder, the alphabet of the output. make: a function that
    returns the network before training. batch: a function that samples the batch of one step. measure: a function that
    returns the share of right answers on held-out data for each of `places`, which are lengths of texts or positions in
    a text. rate: the learning rate of Adam. saved: the steps of the measured checkpoints, of which the last ends the
    training. shipped: the steps of the checkpoints that the package includes.
    """

    alphabets: tuple[Alphabet, ...]
    make: Callable[[Generator], nn.Module]
    batch: Callable[[Generator], tuple[Tensor, ...]]
    measure: Callable[[nn.Module], Figures]
    places: tuple[int, ...]
    rate: float
    saved: tuple[int, ...]
    shipped: tuple[int, ...]


def exact_by_length(held_out: Callable[[], dict[int, SourceTargetTexts]], model: Seq2Seq) -> Figures:
    """Measure the share of texts whose target is generated exactly, for each length of the source."""
    return tuple(share_exact(model, texts) for texts in held_out().values())


def right_by_length(task: str, model: Classifier) -> Figures:
    """Measure the share of texts that are classified correctly, for each length of a text.

    task: a key of evidence.TASKS.
    """
    texts, classes = evidence.held_out(task)
    is_right = model.classify(texts) == classes  # (B,)
    is_symbol = texts != PAD  # (B, S)
    lengths = is_symbol.sum(-1)  # (B,)
    shares = []
    for length in CLASSIFIED_LENGTHS:
        own = is_right[lengths == length]
        share = own.double().mean()
        shares.append(share.item())
    return tuple(shares)


def right_by_position(model: Copier) -> Figures:
    """Measure the share of symbols that are predicted correctly, at each position."""
    return tuple(repeats.accuracy(model).tolist())


CLASSIFIED_LENGTHS = tuple(range(evidence.SHORTEST_EVIDENCE, evidence.LONGEST_EVIDENCE + 1))
COPYING_STEPS = (50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 175, 200, 500)  # more while copying is learned
BATCH_SIZES = {"texts": 128, "repeats": 64, "evidence": 64}  # texts in a training batch


def writing_course(task: ModuleType, context: str, saved: tuple[int, ...], shipped: tuple[int, ...] = ()) -> Course:
    """Make a Course in which a network reads one text and generates another.

    task: the module dates or reversal. context: how Seq2Seq computes its context vector. saved: the steps of the
    checkpoints. shipped: the steps of those in the package; by default the last.
    """
    sizes = (len(task.SOURCE), len(task.TARGET))
    return Course(
        alphabets=(task.SOURCE, task.TARGET),
        make=partial(Seq2Seq, sizes, context),
        batch=partial(task.batch, BATCH_SIZES["texts"]),
        measure=partial(exact_by_length, task.held_out),
        places=task.MEASURED_LENGTHS,
        rate=3e-3,
        saved=saved,
        shipped=shipped or saved[-1:],
    )


def copying_course(layers: int) -> Course:
    """Make a Course in which a Copier with `layers` layers predicts the next symbol of a repeated sequence."""
    shipped = COPYING_STEPS if layers > 1 else (500,)
    return Course(
        alphabets=(repeats.SYMBOLS,),
        make=partial(Copier, len(repeats.SYMBOLS), layers),
        batch=partial(repeats.batch, BATCH_SIZES["repeats"]),
        measure=right_by_position,
        places=tuple(range(2, 2 * repeats.MEASURED_HALF + 1)),
        rate=2e-2,
        saved=(0, *COPYING_STEPS[:-1], 300, 500),
        shipped=shipped,
    )


def classifying_course(task: str, heads: int = 1) -> Course:
    """Make a Course in which a Classifier predicts the class of a text.

    task: a key of evidence.TASKS.
    """
    alphabet = evidence.TASKS[task].symbols
    classes = evidence.TASKS[task].classes
    return Course(
        alphabets=(alphabet,),
        make=partial(Classifier, len(alphabet), len(classes), heads),
        batch=partial(evidence.batch, task, BATCH_SIZES["evidence"]),
        measure=partial(right_by_length, task),
        places=CLASSIFIED_LENGTHS,
        rate=1e-2,
        saved=(0, 25, 50, 100, 200, 400),
        shipped=(400,),
    )


DATES_SAVED = (0, 25, 50, 75, 100, 150, 200, 300, 400, 600, 800)
REVERSAL_SAVED = (0, 100, 200, 300, 400, 600, 800, 1200, 1600, 2000, 3000)
COURSES = {
    "dates_one": writing_course(dates, "one", DATES_SAVED, (200, 800)),
    "dates_dot": writing_course(dates, "dot", DATES_SAVED, (200, 800)),
    "dates_additive": writing_course(dates, "additive", DATES_SAVED, (100, 200, 800)),
    "reversal_one": writing_course(reversal, "one", REVERSAL_SAVED),
    "reversal_additive": writing_course(reversal, "additive", REVERSAL_SAVED),
    "copy_one": copying_course(1),
    "copy_two": copying_course(2),
    "lookup": classifying_course("lookup"),
    "vote": classifying_course("vote"),
    "lookup_heads": classifying_course("lookup", heads=4),
}
