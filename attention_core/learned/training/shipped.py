"""The networks that come with the app: their numbers as safetensors, and their figures in one table beside them."""

import json
from functools import cache
from pathlib import Path

from safetensors.torch import load_file, save_file

from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.snapshots import Network, NetworkRecipe
from attention_core.learned.training.training import Training

SHIPPED_FOLDER = Path(__file__).with_name("shipped")
FIGURES_FILE = SHIPPED_FOLDER / "figures.json"
SHIPPED_SEED = 1


@cache
def load_network(course: str, step: int) -> Network:
    """The network after a step, one of Course.shipped; before the first it is what its seed gives."""
    if step == 0:
        return Training(course, SHIPPED_SEED).saved[0]
    numbers = load_file(course_file(course))
    own = {name.partition("/")[2]: tensor for name, tensor in numbers.items() if is_of_step(name, step)}
    return Network(NetworkRecipe(course, SHIPPED_SEED, step), own)


def is_of_step(name: str, step: int) -> bool:
    """Whether a number in the file is the network's after this step."""
    return name.partition("/")[0] == str(step)


def course_file(course: str) -> Path:
    """Where a course's networks stand."""
    return SHIPPED_FOLDER / f"{course}.safetensors"


@cache
def read_figures_table() -> dict[str, dict]:
    """What was measured of each course: {course: {"parameters", "steps", "places", "figures", "losses"}}, where
    figures and losses are lists with an entry for each of the steps."""
    return json.loads(FIGURES_FILE.read_text(encoding="utf-8"))


def shipped_figures(course: str, step: int) -> Figures:
    """How well a network did after a saved step, see Course."""
    own = read_figures_table()[course]
    return tuple(own["figures"][own["steps"].index(step)])


# ---- how they are made -----------------------------------------------------------------------------------------------
def ship_course(course: str) -> None:
    """Trains a course and writes its networks and its row of the table."""
    training = Training(course, SHIPPED_SEED)
    while not training.done:
        training.advance()
    kept = {network.step: network for network in training.saved}
    numbers = {step: kept[step].numbers for step in COURSES[course].shipped}
    SHIPPED_FOLDER.mkdir(exist_ok=True)
    save_file({f"{step}/{name}": own[name] for step, own in numbers.items() for name in own}, course_file(course))
    row = {
        "parameters": sum(tensor.numel() for tensor in training.saved[0].numbers.values()),
        "steps": [*kept],
        "places": [*COURSES[course].places],
        "figures": [[round(figure, 4) for figure in kept[step].figures] for step in kept],
        "losses": [round(training.losses[max(step - 1, 0)], 4) for step in kept],
    }
    rows = json.loads(FIGURES_FILE.read_text(encoding="utf-8")) if FIGURES_FILE.exists() else {}
    FIGURES_FILE.write_text(format_figures_table({**rows, course: row}), encoding="utf-8")
    read_figures_table.cache_clear()


def format_figures_table(rows: dict[str, dict]) -> str:
    """The table with a line for each list."""
    courses = []
    for course in filter(rows.get, COURSES):
        lines = [f'    "{key}": {json.dumps(value)}' for key, value in rows[course].items()]
        courses.append(f'  "{course}": {{\n' + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(courses) + "\n}\n"
