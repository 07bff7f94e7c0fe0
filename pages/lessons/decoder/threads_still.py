"""The picture of the decoder's lesson as it stands in a file: a written word's threads, and what it writes."""

from attention_core.drawing.decoder_threads import DecoderRow, decoder_threads
from attention_core.drawing.specifications import Picture
from pages.lessons.decoder.translated import Written
from pages.session.labels import current_palette, whole_share


def draw_threads(written: Written, data: dict) -> Picture:
    """The row that is looked at, at its last stage. data: as its component draws it."""
    place = (0, written.head, written.row)
    own, cross = (written.stack[f"{written.layer}.{kind}"]["weights"][place] for kind in ("attention", "cross"))
    row = DecoderRow(
        titles=tuple(data["text"][title] for title in ("target", "source", "next")),
        target=written.target,
        source=written.source,
        row=written.row,
        own=own.numpy(),  # (T,)
        cross=cross.numpy(),  # (S,)
        shares=[(each["word"], each["share"]) for each in data["next"][written.row]],
        write=whole_share,
    )
    return decoder_threads(row, current_palette())
