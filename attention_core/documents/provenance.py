"""Defines the provenance of an exported file: its title, the link that restores its state in the app, and notes such as
random seeds.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """The texts that every exported file shows: a title, the address of its state in the app, and notes.

    Each text is one line, shown unchanged. A note states a random seed, for example. warning: a caution about the whole
    file, such as that a model guesses; "" for none.

    >>> Provenance("A  title", "?ex=en_it", ("Built\\nby hand: x.",)).lines
    ('A title', '?ex=en_it', 'Built by hand: x.')
    """

    title: str
    link: str
    notes: tuple[str, ...] = ()
    warning: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the title, the address, the warning if there is one, and the notes, each as one line."""
        warnings = (self.warning,) if self.warning else ()
        texts = (self.title, self.link, *warnings, *self.notes)
        return tuple(" ".join(text.split()) for text in texts)
