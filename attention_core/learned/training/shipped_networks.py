"""Stores and loads the trained networks of the package: their weights, and a table of their accuracy and loss."""

import json
from functools import cache
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.snapshots import Network, NetworkRecipe
from attention_core.learned.training.training import Training

SHIPPED_FOLDER = Path(__file__).with_name("shipped")
FIGURES_FILE = SHIPPED_FOLDER / "figures.json"
FIGURE_DECIMALS = 4  # decimals of the measurements in the table
SHIPPED_SEED = 1


@cache
def load_network(course: str, step: int) -> Network:
    """Load the network of a course after a training step of Course.shipped; at step 0 it is sampled from its seed."""
    if step == 0:
        return Training(course, SHIPPED_SEED).saved[0]
    numbers = {}
    for stored_name, tensor in load_file(course_file(course)).items():
        stored_step, _, name = stored_name.partition("/")
        if stored_step == str(step):
            numbers[name] = tensor
    recipe = NetworkRecipe(course, SHIPPED_SEED, step)
    return Network(recipe, numbers)


def course_file(course: str) -> Path:
    """Return the path of the file that holds a course's networks."""
    return SHIPPED_FOLDER / f"{course}.safetensors"


@cache
def read_figures_table() -> dict[str, dict]:
    """Read the table of measurements, {course: {"parameters", "steps", "places", "figures", "losses"}}.

    "figures" (the accuracies) and "losses" are lists with one entry per step of "steps".
    """
    return json.loads(FIGURES_FILE.read_text(encoding="utf-8"))


def shipped_figures(course: str, step: int) -> Figures:
    """Return the measured accuracy of a course's network after a training step: a share for each of its places.

    step: a step after which a checkpoint was saved.
    """
    row = read_figures_table()[course]
    place = row["steps"].index(step)
    return tuple(row["figures"][place])


# ---- training of the shipped networks --------------------------------------------------------------------------------
def ship_course(course: str) -> None:
    """Train the network of a course, and write its checkpoints and its row of measurements into the package's files."""
    training = Training(course, SHIPPED_SEED)
    while not training.done:
        training.advance()
    SHIPPED_FOLDER.mkdir(exist_ok=True)
    save_file(shipped_numbers(training), course_file(course))
    rows = {}
    if FIGURES_FILE.exists():
        rows = json.loads(FIGURES_FILE.read_text(encoding="utf-8"))
    rows[course] = figures_row(training)
    FIGURES_FILE.write_text(format_figures_table(rows), encoding="utf-8")
    read_figures_table.cache_clear()


def shipped_numbers(training: Training) -> dict[str, Tensor]:
    """Return the weights of the checkpoints that the package includes: {"step/name of the parameter": tensor}."""
    numbers = {}
    for network in training.saved:
        if network.step not in training.course.shipped:
            continue
        for name, tensor in network.numbers.items():
            numbers[f"{network.step}/{name}"] = tensor
    return numbers


def figures_row(training: Training) -> dict[str, object]:
    """Measure every saved checkpoint of a course, and return the measurements as a row of the table."""
    first_numbers = training.saved[0].numbers.values()
    steps = []
    figures = []
    losses = []
    for network in training.saved:
        steps.append(network.step)
        figures.append([round(figure, FIGURE_DECIMALS) for figure in network.figures])
        last_loss = training.losses[max(network.step - 1, 0)]
        losses.append(round(last_loss, FIGURE_DECIMALS))
    return {
        "parameters": sum(tensor.numel() for tensor in first_numbers),
        "steps": steps,
        "places": [*training.course.places],
        "figures": figures,
        "losses": losses,
    }


def format_figures_table(rows: dict[str, dict]) -> str:
    """Return the table of measurements as JSON, with each list on one line."""
    courses = []
    for course in COURSES:
        if course in rows:
            body = format_figures_row(rows[course])
            courses.append(f'  "{course}": {{\n{body}\n  }}')
    table = ",\n".join(courses)
    return f"{{\n{table}\n}}\n"


def format_figures_row(row: dict[str, object]) -> str:
    """Return the entries of a row as JSON, one per line."""
    lines = []
    for key, value in row.items():
        numbers = json.dumps(value)
        lines.append(f'    "{key}": {numbers}')
    return ",\n".join(lines)
