"""A link as a QR code that a phone reads off a projector."""

import io

import segno

SCANNABLE = 1_200  # characters: 133 modules a side; a phone at the back of a room sees no finer ones
QUIET = 4  # modules of white around the code, as the standard asks


def qr_code(text: str) -> tuple[str, int]:
    """The SVG of a text, black on white, and how many modules a side has, the quiet zone included.

    Error level M or better: a code of which 15 % cannot be seen is still read. At most SCANNABLE characters.
    """
    code = segno.make(text, error="m", micro=False)
    picture = io.BytesIO()
    code.save(picture, kind="svg", border=QUIET, dark="#000", light="#fff", omitsize=True, xmldecl=False)
    return picture.getvalue().decode(), code.symbol_size(border=QUIET)[0]
