"""The sampling settings of the next word in a link: temperature, top-k, top-p, seed."""

from attention_core.record.errors import AttentionError
from pages.setup.link_values import MAX_LINK_NUMBER, read_link_count, read_link_number

WORD_TEMPERATURES = (0.25, 4.0)  # smallest and largest value
TOP_KS = (1, 20)
TOP_PS = (0.05, 1.0)
WORD_SEEDS = (0, MAX_LINK_NUMBER)
WORD_CHOICE_ENDS = {
    "word_temperature": WORD_TEMPERATURES,
    "top_k": TOP_KS,
    "top_p": TOP_PS,
    "word_seed": WORD_SEEDS,
}
WHOLE_WORD_CHOICES = ("top_k", "word_seed")


def check_word_choice(name: str, number: object) -> float | int:
    """Returns the value of a sampling field, if it is in the field's range. Raises AttentionError otherwise."""
    least, most = WORD_CHOICE_ENDS[name]
    kinds = (int,) if name in WHOLE_WORD_CHOICES else (int, float)
    if type(number) not in kinds or not least <= number <= most:
        raise AttentionError("word_choice", name=name, least=least, limit=most, given=repr(number)[:40])
    return number if name in WHOLE_WORD_CHOICES else float(number)


def make_word_choice_reader(name: str):
    """Returns a function that parses the value of the sampling field `name` in a link."""
    read_number = read_link_count if name in WHOLE_WORD_CHOICES else read_link_number

    def read(text: str) -> float | int:
        return check_word_choice(name, read_number(text))

    return read
