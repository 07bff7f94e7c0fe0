"""Lists the controls of the workbench that the search of the app can find."""

from dataclasses import dataclass

MATRICES, FILE, MORE, RESEARCH = "matrices", "file", "more", "research"  # panels beside the picture of the workbench


EDITED_KEY = "c_edited"  # session key of the matrix that the editor shows


@dataclass(frozen=True)
class SoughtControl:
    """A control of the workbench that the search can open.

    label: the key of the control's name on the page. widget: the control's widget key. panel: the panel that must stand
    beside the picture to show the control; None if it is in no panel. row: the row of the panel, or the popover, that
    must be open to show the control; None if it is in none.
    """

    label: str
    widget: str
    panel: str | None = None
    row: str | None = None


CONTROLS = {
    "text": SoughtControl("control.text", "c_text"),
    "mode": SoughtControl("control.way", "c_way"),
    "file": SoughtControl("way.file", "c_bring", FILE),
    "heads": SoughtControl("control.heads", "c_heads"),
    "masks": SoughtControl("control.causal", "c_causal"),
    "scale": SoughtControl("control.scale_on", "c_scale_on"),
    "temperature": SoughtControl("control.temperature", "c_temperature"),
    "device": SoughtControl("control.device", "c_device", row="device"),
    "editors": SoughtControl("editor.title", EDITED_KEY, MATRICES),
    "matrix": SoughtControl("control.input", "c_mode", MATRICES),
    "cross": SoughtControl("row.cross", "c_cross", MORE, "cross"),
    "batch": SoughtControl("row.batch", "c_batch", MORE, "batch"),
    "positions": SoughtControl("row.positions", "c_positions", MORE, "positions"),
    "score": SoughtControl("row.score", "c_score", MORE, "score"),
    "factor": SoughtControl("row.scale", "c_scale", MORE, "scale"),
    "windows": SoughtControl("row.masks", "c_masks", MORE, "masks"),
    "kv_heads": SoughtControl("row.sizes", "c_kv_heads", MORE, "sizes"),
    "norms": SoughtControl("row.norms", "c_norms", MORE, "norms"),
    "wiring": SoughtControl("row.wiring", "c_wiring", MORE, "wiring"),
    "built": SoughtControl("row.built", "c_built", MORE, "built"),
    "dtype": SoughtControl("row.dtype", "c_dtype", MORE, "dtype"),
    "rare_positions": SoughtControl("row.rare_positions", "c_rare_positions", RESEARCH, "rare_positions"),
    "normaliser": SoughtControl("row.normaliser", "c_normaliser", RESEARCH, "normaliser"),
    "modifiers": SoughtControl("row.modifiers", "c_modifiers", RESEARCH, "modifiers"),
    "rare_masks": SoughtControl("row.rare_masks", "c_rare_masks", RESEARCH, "rare_masks"),
}
ROWS = ("cut", "ramp", *(control.row for control in CONTROLS.values() if control.panel and control.row))  # of panels
