"""Trains what comes with the app: `python -m attention_core.learned`, or with names of courses those alone."""

import sys

import torch

from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped import ship_course, shipped_figures

torch.set_num_threads(1)  # the same sums in the same order on any machine of this kind
for course in sys.argv[1:] or COURSES:
    ship_course(course)
    last = shipped_figures(course, COURSES[course].saved[-1])
    print(f"{course}: {sum(last) / len(last):.3f} right")
