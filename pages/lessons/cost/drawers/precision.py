"""The lesson on cost, drawer "precision": what does precision cost a run, and what does it cost a training?"""

from pages.lessons.cost.rounded_run import show_rounded_run
from pages.lessons.cost.rounded_training import show_lost_gradients, show_lost_updates, show_trainings
from pages.lessons.frame import choose_sight


def show_precision() -> None:
    """Shows what rounding does to a run, to a training, and to the small numbers that a training is made of."""
    sights = {
        "run": show_rounded_run,
        "train": show_trainings,
        "gradients": show_lost_gradients,
        "updates": show_lost_updates,
    }
    show_sight = choose_sight("precise", sights)
    show_sight()
