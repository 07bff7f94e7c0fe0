"""Provenance of an exported file: its title, the link to its state, and what in it is random."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """The texts in every exported file: a title, the address of its state, and notes, such as a seed.

    Each text is one line, shown unchanged. warning: what to know before anything in the file is
    believed, such as that a model guesses; may be empty.

    >>> Provenance("A  title", "?ex=en_it", ("Built\\nby hand: x.",)).lines
    ('A title', '?ex=en_it', 'Built by hand: x.')
    """

    title: str
    link: str
    notes: tuple[str, ...] = ()
    warning: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """Title, address, the warning if there is one, and notes, each as one line."""
        warnings = (self.warning,) if self.warning else ()
        texts = (self.title, self.link, *warnings, *self.notes)
        return tuple(" ".join(text.split()) for text in texts)
