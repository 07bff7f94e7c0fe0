"""Train the networks that come with the app: `python -m attention_core.learned`, or some of them by their names.

A language model or a translator that was stopped goes on where it was left: its numbers are kept in `.training`.
"""

import sys
from pathlib import Path

import torch

from attention_core.learned.language.making import make_model
from attention_core.learned.language.shipped import LANGUAGE_MODELS
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import ship_course, shipped_figures
from attention_core.learned.translation.shipped import TRANSLATORS

SHELVES = {name: shelf for shelf in (LANGUAGE_MODELS, TRANSLATORS) for name in shelf.recipes}


def make_course(course: str) -> None:
    """Train and ship a course, and say how it went."""
    ship_course(course)
    last_step = COURSES[course].saved[-1]
    figures = shipped_figures(course, last_step)
    mean = sum(figures) / len(figures)
    print(f"{course}: {mean:.3f} right")


torch.set_num_threads(1)  # the same sums in the same order on any machine of this kind
for name in sys.argv[1:] or (*COURSES, *SHELVES):
    if name in SHELVES:
        make_model(SHELVES[name], name, Path(".training"), print)
    else:
        make_course(name)
