"""Train the networks that come with the app: `python -m attention_core.learned`, or some courses by their names."""

import sys

import torch

from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import ship_course, shipped_figures

torch.set_num_threads(1)  # the same sums in the same order on any machine of this kind
for course in sys.argv[1:] or COURSES:
    ship_course(course)
    last_step = COURSES[course].saved[-1]
    figures = shipped_figures(course, last_step)
    mean = sum(figures) / len(figures)
    print(f"{course}: {mean:.3f} right")
