"""Where an exported file is from: what it shows, the link that opens its state, and what in it is random."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """What every exported file carries: a title, the address of its state, and notes, such as a seed.

    The caller gives the texts ready-made; each stands in one line.

    >>> Provenance("A  title", "?ex=en_it", ("Built\\nby hand: x.",)).lines
    ('A title', '?ex=en_it', 'Built by hand: x.')
    """

    title: str
    link: str
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Title, address and notes, a line each."""
        texts = (self.title, self.link, *self.notes)
        return tuple(" ".join(text.split()) for text in texts)
