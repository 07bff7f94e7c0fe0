"""Provenance of an exported file: its title, the link that opens its state, and what in it is random."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """What every exported file carries: a title, the address of its state, and notes, such as a seed.

    The caller gives the texts ready-made; each stands in one line. warning: what to know before anything in the file is
    believed, such as that a model guesses; empty where there is nothing.

    >>> Provenance("A  title", "?ex=en_it", ("Built\\nby hand: x.",)).lines
    ('A title', '?ex=en_it', 'Built by hand: x.')
    """

    title: str
    link: str
    notes: tuple[str, ...] = ()
    warning: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """Title, address, the warning where there is one, and notes, a line each."""
        warnings = (self.warning,) if self.warning else ()
        texts = (self.title, self.link, *warnings, *self.notes)
        return tuple(" ".join(text.split()) for text in texts)
