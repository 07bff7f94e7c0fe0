"""Train the shipped networks: `python -m attention_core.learned`; with names as arguments, only the named ones.

Interrupted training of a language model or translator continues from its checkpoint in `.training`. Some names only
measure shipped language models again: `guesses` when they guess, `heads` their heads, `meaning` their checkpoints,
`removed` a decoder without its mask and other parts. `steps` trains some language models again, and keeps and measures
their checkpoints. Six names train networks of which only figures are kept: `blocks` deep networks with and without
residuals and norms, `stability` small networks with 1 to 8 heads over seeds and rates, `overfitting` the same networks
on a few repeated texts, `middle` a decoder that fills gaps, `precision` a small network in 16 bits, `wider` a network
that reverses letters, with a wider vector and with more steps. `pieces` learns the word pieces of both languages.
"""

import sys
from pathlib import Path

import torch

from attention_core.learned.depth.block_figures import measure_blocks_again
from attention_core.learned.depth.deep_copier import BLOCK_KINDS
from attention_core.learned.language.checkpoints import MEASURED, STEPPED, keep_steps, measure_steps_again
from attention_core.learned.language.fill_in_middle import measure_middle_again
from attention_core.learned.language.head_figures import measure_heads_again
from attention_core.learned.language.making import make_model, measure_guesses_again
from attention_core.learned.language.removed_parts import REMOVED, measure_removed_again
from attention_core.learned.language.shipped import LANGUAGE_MODELS, other_form, shipped_names
from attention_core.learned.pieces.shipped import SPACES, ship_pieces
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.head_counts import measure_overfitting_again, measure_stability_again
from attention_core.learned.training.mixed_precision import SCHEMES, measure_precision_again
from attention_core.learned.training.shipped_networks import ship_course, shipped_figures
from attention_core.learned.training.wider_vector import measure_wider_again
from attention_core.learned.translation.recipes import TRANSLATORS

MEASURES = (
    "guesses",
    "heads",
    "steps",
    "meaning",
    "removed",
    "blocks",
    "stability",
    "overfitting",
    "middle",
    "pieces",
    "precision",
    "wider",
)
FOLDERS = {name: networks for networks in (LANGUAGE_MODELS, TRANSLATORS) for name in networks.recipes}


def make_course(course: str) -> None:
    """Train the network of a course, save it in the package, and print its accuracy."""
    ship_course(course)
    last_step = COURSES[course].saved[-1]
    figures = shipped_figures(course, last_step)
    mean = sum(figures) / len(figures)
    print(f"{course}: {mean:.3f} right")


torch.set_num_threads(1)  # sums in the same order on any machine of this kind
for name in sys.argv[1:] or (*COURSES, *FOLDERS):
    if name in FOLDERS:
        make_model(FOLDERS[name], name, Path(".training"), print)
    if name in LANGUAGE_MODELS.recipes or name == "guesses":  # a model's guesses are measured with its other form, too
        for changed in shipped_names() if name == "guesses" else filter(None, (name, other_form(name))):
            measure_guesses_again(changed)
    if name in LANGUAGE_MODELS.recipes or name == "heads":
        for changed in shipped_names() if name == "heads" else (name,):
            measure_heads_again(changed)
    if name == "steps":
        for changed in STEPPED:
            keep_steps(changed, print)
    if name in ("steps", "meaning", *MEASURED):
        for changed in [name] if name in MEASURED else MEASURED:
            measure_steps_again(changed)
    if name in ("removed", *REMOVED):
        for changed in [name] if name in REMOVED else REMOVED:
            measure_removed_again(changed)
    if name == "blocks":
        for kind in BLOCK_KINDS:
            measure_blocks_again(kind)
    if name == "stability":
        measure_stability_again()
    if name == "overfitting":
        measure_overfitting_again()
    if name == "middle":
        measure_middle_again(Path(".training"), print)
    if name == "pieces":
        for language in SPACES:
            ship_pieces(language)
    if name == "precision":
        for scheme in SCHEMES:
            measure_precision_again(scheme)
    if name == "wider":
        measure_wider_again()
    if name not in (*FOLDERS, *MEASURES):
        make_course(name)
