"""Puts the attention maps of all heads into a file, with the options of the view of all heads."""

from functools import partial

from attention_core import Trace
from attention_core.documents.number_files import csv_text
from attention_core.documents.provenance import Provenance
from attention_core.drawing.cells import TIMES_STEP
from attention_core.record.trace import Step
from pages.export.downloads import can_export, file_name, offer_download
from pages.panels.map_reading import tell_reading
from pages.panels.read_heads import read_screen
from pages.session.view import ScreenState


def show_heads_file(screen: ScreenState, provenance: Provenance) -> None:
    """Shows the download of the numbers of all heads' maps, unless there are too many for the options of maps."""
    found = read_screen(screen)
    if found is None:
        return
    read, reading = found
    _, rows, columns = read.numbers.shape  # rows and columns of a map, without the padding at the end of a batch
    words = screen.trace.labels["T"][:rows]
    keys = screen.trace.labels["S"][: columns + reading.without_first]
    step = TIMES_STEP if reading.times else "weights"
    numbers = read.numbers.masked_fill(read.hidden | ~read.allowed, float("nan"))
    trace = Trace({step: Step(step, numbers, ("map", "T", "S"))})
    trace = trace.labelled(T=words, S=keys[1:] if reading.without_first else keys)
    told = tell_reading(reading, keys)
    noted = Provenance(provenance.title, provenance.link, (*provenance.notes, *filter(None, [told])))
    if can_export(trace, "CSV", step):
        name = file_name(screen.setup, "csv", "all_heads")
        offer_download("heads_csv", name, "text/csv", partial(csv_text, trace, step, noted))
