"""Draws one step, or the attention map of a head, as an SVG file."""

from dataclasses import dataclass, replace

from attention_core import Trace
from attention_core.documents.picture_files import svg_text
from attention_core.documents.provenance import Provenance
from attention_core.drawing.charts import head_map
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.explanation.formula import formula
from attention_core.explanation.layout import panel
from attention_core.record.expressions import Ref
from pages.panels.step_picture import make_panel_title, make_step_picture, position_with_cell
from pages.session.labels import Selection, formula_names, picture_texts_for
from pages.site.words import say


@dataclass(frozen=True)
class StepPicture:
    """The data from which the picture of a step or of an attention map is drawn, when a file is requested.

    chosen: the opened cell. map_title: the title for the attention map of the selected head; None if the step is drawn
    as a product. is_transparent: whether the background is left out.
    """

    trace: Trace
    step: str
    selection: Selection
    chosen: Ref | None
    palette: Palette
    provenance: Provenance
    map_title: str | None
    is_transparent: bool = False

    def to_svg(self) -> str:
        """Returns the picture as SVG text, with the formula of the step and the notes of its provenance."""
        if self.map_title is None:
            picture, provenance = self.draw_step(), self.provenance
        else:
            picture, provenance = self.draw_map(), self.note_shown_part()
        equation = formula(self.trace, self.step, self.palette.families(), formula_names(self.trace))
        return svg_text(picture, provenance, self.palette, equation, is_transparent=self.is_transparent)

    def draw_step(self) -> Picture:
        """Draws the step as a product of matrices, and returns the picture."""
        position = position_with_cell(self.selection.at, self.trace, self.chosen)
        return make_step_picture(self.trace, self.step, position, self.chosen, palette=self.palette)

    def draw_map(self) -> Picture:
        """Draws the attention weights of the selected head as a map, and returns the picture."""
        return head_map(
            self.trace,
            self.selection.head,
            picture_texts_for(self.trace),
            self.palette,
            self.chosen,
            self.selection.query,
            batch=self.selection.batch,
            axes=(say("corner.T"), say("corner.S")),
            title=self.map_title,
        )

    def note_shown_part(self) -> Provenance:
        """Returns the provenance; if only a part of a large attention map is drawn, with a note about this part."""
        part = panel(self.trace, "weights", {"B": self.selection.batch, "H": self.selection.head})
        if not any(part.hidden):
            return self.provenance
        notes = (*self.provenance.notes, make_panel_title(self.trace, part))
        return replace(self.provenance, notes=notes)
