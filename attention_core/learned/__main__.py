"""Trains the networks of the package: `python -m attention_core.learned`, followed by names to train only these.

An interrupted training of a language model or translator continues from its checkpoint in `.training`. Some names only
repeat measurements of the included language models: `guesses`, how often they only guess; `heads`, what their heads
attend to; `meaning`, how well each checkpoint resolves pronouns; `removed`, how a decoder predicts without its mask or
other parts. `steps` trains some language models again, then saves and measures their checkpoints. Six names train
networks and save only their measurements: `blocks` deep networks with and without residuals and norms, `stability`
small networks with 1 to 8 heads over seeds and rates, `overfitting` the same networks on a few repeated texts, `middle`
a decoder that fills gaps, `precision` a small network in 16 bits, `wider` a network that reverses letters, with a wider
vector and with more steps. `pieces` learns the subword tokens of both languages.
"""

import sys
from collections.abc import Iterable
from itertools import product

import torch

from attention_core.learned.depth.block_figures import BLOCK_FIGURES
from attention_core.learned.depth.deep_copier import BLOCK_KINDS
from attention_core.learned.language.checkpoints import MEASURED, STEP_FIGURES, STEPPED, keep_steps
from attention_core.learned.language.fill_in_middle import MIDDLE_FIGURES, MIDDLE_LANGUAGE
from attention_core.learned.language.head_figures import HEAD_FIGURES
from attention_core.learned.language.making import CHECKPOINT_FOLDER, make_model, measure_guesses_again
from attention_core.learned.language.removed_parts import REMOVED, REMOVED_FIGURES
from attention_core.learned.language.shipped import LANGUAGE_MODELS, other_form, shipped_names
from attention_core.learned.measured_table import MeasuredTable
from attention_core.learned.pieces.shipped import SPACES, ship_pieces
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.head_counts import HEAD_COUNTS, OVERFITTING, RATES, STABILITY, TEXT_COUNTS
from attention_core.learned.training.mixed_precision import PRECISION_FIGURES, SCHEMES
from attention_core.learned.training.shipped_networks import ship_course, shipped_figures
from attention_core.learned.training.wider_vector import TRIALS, WIDER_VECTOR
from attention_core.learned.translation.recipes import TRANSLATORS

FOLDERS = {name: networks for networks in (LANGUAGE_MODELS, TRANSLATORS) for name in networks.recipes}
TABLES = {
    "heads": (HEAD_FIGURES, shipped_names()),
    "meaning": (STEP_FIGURES, MEASURED),
    "removed": (REMOVED_FIGURES, REMOVED),
    "blocks": (BLOCK_FIGURES, BLOCK_KINDS),
    "stability": (STABILITY, tuple(product(HEAD_COUNTS, RATES))),
    "overfitting": (OVERFITTING, tuple(product(HEAD_COUNTS, TEXT_COUNTS))),
    "middle": (MIDDLE_FIGURES, (MIDDLE_LANGUAGE,)),
    "precision": (PRECISION_FIGURES, SCHEMES),
    "wider": (WIDER_VECTOR, TRIALS),
}  # command -> the table of measurements that it fills, and the keys of the table's rows


def make_course(course: str) -> None:
    """Train the network of a course (one small task), save the network in the package, and print its accuracy."""
    ship_course(course)
    last_step = COURSES[course].saved[-1]
    figures = shipped_figures(course, last_step)
    mean = sum(figures) / len(figures)
    print(f"{course}: {mean:.3f} right")


def measure_language_model(name: str) -> None:
    """Update every table of measurements that has a row for a language model, after this model was trained again."""
    for changed in filter(None, (name, other_form(name))):  # its other form (encoder, decoder), too
        measure_guesses_again(changed)
    for table, names in ((HEAD_FIGURES, [name]), (STEP_FIGURES, MEASURED), (REMOVED_FIGURES, REMOVED)):
        if name in names:
            table.measure_again(name)


def measure_table(table: MeasuredTable, keys: Iterable) -> None:
    """Measure the rows of a table in order, and save each row when it is measured, so that a stopped program loses
    only one row."""
    for key in keys:
        table.measure_again(key)
        print(f"{table.file.name}: {key}", flush=True)


torch.set_num_threads(1)  # one thread adds sums in the same order on every machine
for name in sys.argv[1:] or (*COURSES, *FOLDERS):
    if name in FOLDERS:
        make_model(FOLDERS[name], name, CHECKPOINT_FOLDER, print)
        if name in LANGUAGE_MODELS.recipes:
            measure_language_model(name)
    elif name == "guesses":
        for model in shipped_names():
            measure_guesses_again(model)
    elif name == "steps":
        for model in STEPPED:
            keep_steps(model, print)
        measure_table(*TABLES["meaning"])
    elif name == "pieces":
        for language in SPACES:
            ship_pieces(language)
    elif name in TABLES:
        measure_table(*TABLES[name])
    else:
        make_course(name)
