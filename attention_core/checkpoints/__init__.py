"""Opens models from local folders, records the attention layers of any torch model, and proves each recorded layer."""

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.core_run import CoreRun, run_call
from attention_core.checkpoints.layer_proof import ProofRow
from attention_core.checkpoints.model_run import Census, census, record
from attention_core.checkpoints.open_model import open_folder
from attention_core.checkpoints.opened_model import OpenedModel
from attention_core.checkpoints.pieces import Pieces
from attention_core.checkpoints.recording import Recording
from attention_core.checkpoints.stock_folder import save_folder

__all__ = [
    "AttentionCall",
    "Census",
    "CoreRun",
    "OpenedModel",
    "Pieces",
    "ProofRow",
    "Recording",
    "census",
    "open_folder",
    "record",
    "run_call",
    "save_folder",
]
