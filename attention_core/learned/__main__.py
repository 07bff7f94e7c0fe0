"""Train the networks that come with the app: `python -m attention_core.learned`, or some of them by their names.

A language model that was stopped goes on where it was left: its numbers are kept in `.training`. The name `guesses`
trains nothing: it measures again when the language models that come along guess.
"""

import sys
from pathlib import Path

import torch

from attention_core.learned.language.making import make_model, measure_guesses_again
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import shipped_names
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import ship_course, shipped_figures


def make_course(course: str) -> None:
    """Train and ship a course, and say how it went."""
    ship_course(course)
    last_step = COURSES[course].saved[-1]
    figures = shipped_figures(course, last_step)
    mean = sum(figures) / len(figures)
    print(f"{course}: {mean:.3f} right")


torch.set_num_threads(1)  # the same sums in the same order on any machine of this kind
for name in sys.argv[1:] or (*COURSES, *RECIPES):
    if name in RECIPES:
        make_model(name, Path(".training"), print)
    elif name == "guesses":
        for shipped in shipped_names():
            measure_guesses_again(shipped)
    else:
        make_course(name)
