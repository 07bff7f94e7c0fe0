"""Lists the controls of the workbench that the search of the app can find."""

from dataclasses import dataclass

MORE, EDITORS, MORE_MASKS = "more", "editors", "more_masks"  # session keys of the accordions that have controls in them


@dataclass(frozen=True)
class SoughtControl:
    """A control of the workbench that the search can open.

    label: the key of the control's name on the page. widget: the control's widget key. drawer: the session key of the
    accordion that must be open to show the control; None if the control is always visible.
    """

    label: str
    widget: str
    drawer: str | None = None


CONTROLS = {
    "text": SoughtControl("control.text", "c_text"),
    "heads": SoughtControl("control.heads", "c_heads"),
    "mode": SoughtControl("control.input", "c_mode"),
    "editors": SoughtControl("editor.title", "c_edited", EDITORS),
    "masks": SoughtControl("control.masks", "c_masks", MORE_MASKS),
    "scale": SoughtControl("control.scale", "c_scale"),
    "temperature": SoughtControl("control.temperature", "c_temperature"),
    "kv_heads": SoughtControl("control.kv_heads", "c_kv_heads", MORE),
    "score": SoughtControl("control.score", "c_score", MORE),
    "positions": SoughtControl("control.positions", "c_positions", MORE),
    "normaliser": SoughtControl("control.normaliser", "c_normaliser", MORE),
    "modifiers": SoughtControl("control.modifiers", "c_modifiers", MORE),
    "batch": SoughtControl("control.batch", "c_batch", MORE),
    "cross": SoughtControl("control.cross", "c_cross", MORE),
    "learned": SoughtControl("header.learned", "learned", MORE),
    "wiring": SoughtControl("control.wiring", "c_wiring", MORE),
    "built": SoughtControl("control.built", "c_built", MORE),
    "dtype": SoughtControl("control.dtype", "c_dtype", MORE),
    "device": SoughtControl("control.device", "c_device", MORE),
}
