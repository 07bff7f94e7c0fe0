"""Asks the Hugging Face hub about a model and downloads it into the hub's cache, in a process that can be stopped at
any moment.

No other module of this package starts a request. The process runs hub_process.py; the downloaded folder is opened like
any other.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from attention_core.checkpoints.folder_tokenizer import ABOUT_FILE, TOKENIZER_FILE
from attention_core.checkpoints.hub_model import HubModel
from attention_core.checkpoints.model_config import CONFIG_FILE, MODEL_BOUNDS, ModelBounds
from attention_core.checkpoints.stored_weights import INDEX_FILE, WEIGHTS_FILE
from attention_core.record.errors import AttentionError

PROGRAM = Path(__file__).with_name("hub_process.py")
FILES = {
    "weights": WEIGHTS_FILE,
    "index": INDEX_FILE,
    "shards": "model-*-of-*.safetensors",
    "others": [CONFIG_FILE, TOKENIZER_FILE, ABOUT_FILE],
}
# Xet is off, because its downloads bypass this package's checks of hosts and bytes.
SETTINGS = {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
END_SECONDS = 10


@dataclass(frozen=True)
class HubPlan:
    """The files of a model on the hub. files: (name, bytes). missing: bytes that the cache lacks. free: free bytes of
    the disk.
    """

    commit: str
    files: tuple[tuple[str, int], ...]
    missing: int
    free: int

    @property
    def size(self) -> int:
        """The total bytes of all files."""
        return sum(size for _, size in self.files)


class HubTask:
    """A request to the hub about a model, or a download of it; it begins at once.

    plan: the files of the model; None before the hub has answered. missing: the number of bytes still to download; None
    before the plan. folder: the model's folder after the download. refusal: why the download failed.
    """

    def __init__(self, model: HubModel, fetch: bool, bounds: ModelBounds = MODEL_BOUNDS):
        self.model, self.is_download = model, fetch
        self.plan: HubPlan | None = None
        self.missing: int | None = None
        self.folder: Path | None = None
        self.refusal: AttentionError | None = None
        self.is_stopped = False
        wanted = {"name": model.name, "revision": model.revision, "most_bytes": bounds.memory_bytes, "fetch": fetch}
        self.process = subprocess.Popen(  # -P: no module beside the program is imported
            [sys.executable, "-P", str(PROGRAM), json.dumps(wanted | FILES)],
            env=os.environ | SETTINGS,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.reader = Thread(target=self.read, name=f"hub {model}", daemon=True)
        self.reader.start()

    @property
    def is_running(self) -> bool:
        """Whether the process is still running."""
        return self.reader.is_alive()

    def read(self) -> None:
        """Read the output of the download process until the process ends."""
        with self.process.stdout as lines:
            for line in lines:
                self.take(json.loads(line))
        self.process.wait()
        is_answered = self.folder is not None or (self.plan is not None and not self.is_download)
        if self.refusal is None and not self.is_stopped and not is_answered:
            self.refusal = AttentionError("hub_process", given=self.process.returncode)

    def take(self, said: dict) -> None:
        """Store the content of one JSON object that the process wrote: the plan, the missing bytes, the folder or an
        error."""
        match said:
            case {"plan": plan}:
                files = tuple((name, size) for name, size in plan.pop("files"))
                self.plan = HubPlan(files=files, **plan)
                self.missing = self.plan.missing
            case {"missing": missing}:
                self.missing = missing
            case {"folder": folder}:
                self.folder = Path(folder)
            case {"refused": code, "values": values}:
                self.refusal = AttentionError(code, **values)

    def stop(self) -> None:
        """Stop the process; downloaded bytes stay in the cache, so that the next download resumes after them."""
        self.is_stopped = True
        self.process.kill()
        self.wait()

    def wait(self, seconds: float = END_SECONDS) -> None:
        """Wait until the process has ended, or until some seconds have passed."""
        self.reader.join(seconds)
