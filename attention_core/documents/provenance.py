"""Where an exported thing is from: what it shows, the link that opens its state, and what of it was drawn at random."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """What every exported thing carries: a title, the address of its state, and notes, such as a seed. Ready-made texts
    of the caller's; each stands in one line.

    >>> Provenance("A  title", "?ex=en_it", ("Built\\nby hand: x.",)).lines
    ('A title', '?ex=en_it', 'Built by hand: x.')
    """

    title: str
    link: str
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Title, address and notes, a line each."""
        return tuple(" ".join(text.split()) for text in (self.title, self.link, *self.notes))
