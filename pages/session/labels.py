"""Names tokens, axes, steps and cells in the session's language; determines the selected sentence, head and query."""

import re
from dataclasses import dataclass
from functools import cache, partial

import streamlit as st
import torch

from attention_core import Trace
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE, Palette
from attention_core.drawing.text_layout import PictureTexts
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.asking_word import AskingWord, find_asking_word
from attention_core.explanation.facts import find_row_beyond_itself, find_telling_row
from attention_core.explanation.formula import ELSE
from attention_core.explanation.layout import TOKEN_AXES, is_broadcast_axis
from attention_core.inputs.tokenizer import printable_token
from attention_core.learned.language.batches import START
from attention_core.mechanism.operations import kv_head
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.expressions import Ref
from attention_core.record.number_text import NEARLY_ALL, format_percent, format_percent_tenths, format_whole_percent
from pages.runs.cache import cache_in_thread
from pages.runs.devices import find_gpu_obstacle
from pages.runs.run_inputs import PAD_WORD
from pages.session.collected import is_collecting
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import current_language, has, make_names_distinct, say

HEAD_DIMS = ("H", "H_kv")  # axes of heads: query heads and key/value heads
CHINESE_LETTERS = re.compile(r"[\u3400-\u9fff]")
SUBSCRIPTED_SYMBOL = re.compile(r"(X )?\b([A-Za-z])_(\w+)")  # such as W_q, or X W_q
BROKEN_CHINESE = re.compile(r"(?<=[\u3400-\u9fff])\n(?=[\u3400-\u9fff])")  # a line break between two Chinese characters


def current_palette() -> Palette:
    """Returns the palette of the current theme; the light palette while a file is collected."""
    if is_collecting():
        return LIGHT_PALETTE
    return DARK_PALETTE if st.context.theme.type == "dark" else LIGHT_PALETTE


def chosen_cell(trace: Trace, setup: Setup) -> Ref | None:
    """Returns the cell whose arithmetic is open, or None if this run does not have the cell."""
    if setup.view.cell and trace.holds(setup.view.step, setup.view.cell):
        return Ref(setup.view.step, setup.view.cell)
    return None


def name_choice(family: str, text: str) -> str:
    """Returns the name of a chosen mechanism in the session's language, followed by its parameters.

    family: the kind of mechanism, such as "masks". text: the choice in a Setup, such as "local:2".
    """
    name, *numbers = text.split(":")
    return " ".join([say(f"{family}.{name}"), *map(name_parameter, numbers)])


def name_position_choice(text: str) -> str:
    """Returns the name of a position encoding in the session's language."""
    return say("compare.rope_half") if text == "rope_half" else name_choice("positions", text)


def name_parameter(text: str) -> str:
    """Returns the translation of a parameter that is a word; returns a number unchanged."""
    key = f"parameter_word.{text}"
    return say(key) if has(key) else text


def axis_name(dim: str) -> str:
    """Returns the name of an axis in the session's language.

    dim: the letter of the axis, such as "T".
    """
    key = f"axis.{dim}"
    return say(key) if has(key) else say("axis.other", dim=dim)


def axis_label(trace: Trace, axis: str, position: int) -> str:
    """Returns the label of a row or column: a token, the meaning of a feature, or the position counted from 1."""
    words = trace.labels.get(axis)
    if axis == "":
        return say("place.all")
    if words is None:
        return str(position + 1)
    word = words[position]
    if axis not in ("D", "D_out"):
        return printable_token(word)
    if word.startswith("="):  # a column named "=word" is the feature that is 1 for this word
        return printable_token(word.removeprefix("="))
    return say(f"dim.{word}")


def name_token(trace: Trace, axis: str, position: int) -> str:
    """Returns the name of a token; a word that occurs more than once in the sentence gets its position, as in "the #3".

    The start token of a language model is not counted, because the visitor did not type it.
    """
    words = trace.labels[axis]
    word = words[position]
    name = printable_token(word)
    if words.count(word) == 1:
        return name
    unseen = 1 if words[0] == START and words.count(START) == 1 else 0
    return say("place.token", word=name, number=position + 1 - unseen)


def describe_gpu_obstacle() -> str | None:
    """Returns the sentence that says why no GPU is offered and what would help; None if a GPU is available."""
    obstacle = find_gpu_obstacle()
    if obstacle is None:
        return None
    version, _, _ = torch.__version__.partition("+")  # the version without the suffix of the build, such as "+cpu"
    return say(f"no_gpu.{obstacle}", torch=version, cuda=torch.version.cuda)


def describe_cell(trace: Trace, ref: Ref) -> str:
    """Returns a description of a cell in words: its step, its head, its tokens."""
    return picture_texts_for(trace).describe(ref)


def cell_naming_axes(trace: Trace, step: str) -> list[tuple[int, str]]:
    """Returns the axes of a step that appear in the description of a cell, as (index of the axis, name).

    Broadcast axes and the batch axis of a single sentence are left out.
    """
    dims, shape = trace.step(step).dims, trace.step(step).shape
    naming = []
    for axis, dim in enumerate(dims):
        is_single_sentence = dim == "B" and shape[axis] == 1
        if not is_single_sentence and not is_broadcast_axis(trace, step, axis):
            naming.append((axis, dim))
    return naming


def place_name(trace: Trace, axis: str, position: int) -> str:
    """Returns the name of an index along an axis: sentences and heads by their number, tokens and features by their
    label.
    """
    if axis == "B":
        return say("place.sentence", number=position + 1)
    if axis in HEAD_DIMS:
        return say("place.head", number=position + 1)
    if axis in TOKEN_AXES and axis in trace.labels:
        return name_token(trace, axis, position)
    return axis_label(trace, axis, position)


def place_names(trace: Trace, axis: str, size: int) -> list[str]:
    """Returns the names of all indices along an axis, for controls and pictures; equal tokens get different names."""
    names = [place_name(trace, axis, position) for position in range(size)]
    return make_names_distinct(names)


def short_step_name(step: str) -> str:
    """Returns the short name of a step that is shown below the step's small picture; it may have two lines."""
    mask = f"masks.{step.removeprefix('allowed_')}"
    if step.startswith("allowed_") and has(mask):
        return say(mask).replace(" ", "\n", 1)
    key = f"step.short.{step}"
    if has(key):
        return say(key)
    maker, _, place = step.rpartition("_")  # splits a name such as sinusoidal_query at its last part
    if maker in POSITIONS:
        return f"{say(f'positions.{maker}')}\n({place})"
    if has(f"step.made.{maker}"):  # the step is computed from an input, such as latent_x
        return say(f"step.made.{maker}")
    if step.endswith("_2"):
        return f"{short_step_name(step.removesuffix('_2'))} 2"
    return step


def inline_step_name(step: str) -> str:
    """Returns the short name of a step on one line; parts of a Chinese name are joined without a space."""
    name = BROKEN_CHINESE.sub("", short_step_name(step))
    return name.replace("\n", " ")


def typeset_step_name(step: str) -> str:
    """Returns the short name of a step as Markdown, in which a symbol with a subscript is a formula, such as X W_q."""
    return SUBSCRIPTED_SYMBOL.sub(r"$\1\2_{\3}$", inline_step_name(step))


def listed_step_name(step: str) -> str:
    """Returns the name of a step for a list of choices, which cannot show subscripts: "projected q" for X W_q."""
    letter, _, rest = step.partition("_")
    return say("formula.projected", letter=letter) if rest == "projected" else inline_step_name(step)


def formula_names(trace: Trace) -> dict[str, str]:
    """Returns the names that formulas use for a run's steps, in the session's language.

    Returns {} for English, because English formulas use the names in the code.
    """
    if current_language() == "en":
        return {}
    names = {step: spoken_step_name(step) for step in trace.steps}
    return {ELSE: say("formula.else")} | {step: name for step, name in names.items() if name != step}


def spoken_step_name(step: str) -> str:
    """Returns a step's name in a sentence or a formula.

    This is the Chinese name if there is one in the session's language, else the name in the code.
    """
    letter, _, rest = step.partition("_")
    word = say("formula.projected", letter=letter) if rest == "projected" else inline_step_name(step)
    return word if CHINESE_LETTERS.search(word) else step  # a name without Chinese letters is a symbol, such as "X W_q"


def picture_texts_for(trace: Trace) -> PictureTexts:
    """Returns two functions for the pictures of a run, one that describes cells and one that labels axes; both cache
    their results.
    """
    naming_axes = cache(partial(cell_naming_axes, trace))
    name = cache(partial(place_name, trace))
    label = cache(partial(axis_label, trace))
    name_step = cache(spoken_step_name)

    def describe(ref: Ref) -> str:
        places = [name(dim, ref.index[axis]) for axis, dim in naming_axes(ref.step)]
        return f"{name_step(ref.step)} [{', '.join(places)}]"

    return PictureTexts(describe, label)


@dataclass(frozen=True)
class Selection:
    """The selected sentence, head and query, and the key/value head of that head, as indices."""

    batch: int
    head: int
    kv: int
    query: int

    @property
    def at(self) -> dict[str, int]:
        """The selected index on each axis of which a picture shows only one index."""
        return {"B": self.batch, "H": self.head, "H_kv": self.kv, "T": self.query}


def count_real_queries(trace: Trace) -> int:
    """Returns the number of queries in the selected sentence, without padding."""
    return sum(word != PAD_WORD for word in trace.labels["T"])


@cache_in_thread
def selection_of(trace: Trace, setup: Setup) -> Selection:
    """Returns the selected sentence, head and query of a Setup; without a choice of the visitor, default ones.

    The default is the head and query that the example's story names; for a typed sentence, the result of
    find_own_asker, such as its pronoun; otherwise that of find_telling_row or find_row_beyond_itself.
    """
    sizes = trace.sizes()
    H, T = sizes["H"], sizes["T"]
    batch = min(setup.view.sentence or 0, sizes["B"] - 1)
    if setup.view.token is not None and setup.view.head is not None:
        head, query = setup.view.head, min(setup.view.token, T - 1)
    elif setup.view.token is None and shows_example_story(setup, batch, H):
        head, query = EXAMPLES[setup.run.example].focus
    elif setup.view.token is None and has_own_sentence(setup):
        head, query, _ = find_own_asker(trace, setup, batch)
    else:
        chosen_query = None if setup.view.token is None else min(setup.view.token, T - 1)
        if resolve_run(setup.run).model is not None:
            head, query = find_row_beyond_itself(trace, chosen_query, batch)
        else:
            head, query = find_telling_row(trace, chosen_query, batch, count_real_queries(trace))
    if setup.view.head is not None:
        head = min(setup.view.head, H - 1)
    key_value_head = kv_head(head, H, sizes["H_kv"])
    return Selection(batch, head, key_value_head, query)


def has_own_sentence(setup: Setup) -> bool:
    """Returns whether the run uses a sentence that the visitor typed or a link contains, not matrices, a file or a
    network.
    """
    is_replaced = any(field is not None for field in (setup.run.x, setup.run.q, setup.run.recorded, setup.run.file))
    return setup.run.text is not None and not is_replaced and resolve_run(setup.run).network is None


def find_own_asker(trace: Trace, setup: Setup, batch: int, head: int | None = None) -> AskingWord:
    """Returns the query whose row is selected by default in a typed sentence, such as its only pronoun, and the reason.

    head: the head to search, by default the selected one.
    """
    words = trace.labels["T"][: count_real_queries(trace)]
    if head is None and setup.view.head is not None:
        head = min(setup.view.head, trace.sizes()["H"] - 1)
    first = int(START in words[:1])  # number of start tokens before the words: 1 for a language model, else 0
    is_of_model = resolve_run(setup.run).model is not None
    return find_asking_word(trace, words, batch, head, first=first, past_itself=is_of_model)


def why_it_asks(trace: Trace, setup: Setup, selection: Selection) -> str | None:
    """Returns the reason why the query of a typed sentence is selected by default, such as "pronoun".

    Returns None if another query is selected, or if the sentence is the example's own. The reasons are listed at
    AskingWord.
    """
    if not has_own_sentence(setup):
        return None
    asker = find_own_asker(trace, setup, selection.batch, selection.head)
    return asker.why if asker.query == selection.query else None


def shows_example_story(setup: Setup, batch: int, heads: int) -> bool:
    """Returns whether the page shows the example's own sentence, so that the head and query of its story are the
    default.
    """
    focus = EXAMPLES[setup.run.example].focus
    if focus is None or batch > 0:
        return False
    typed = (setup.run.text, setup.run.x, setup.run.q, setup.run.recorded, setup.run.file, setup.run.built)
    focus_head, _ = focus
    return all(field is None for field in typed) and focus_head < heads


def written_share(share: float) -> str:
    """Returns a share as a percentage with sign, such as "25 %", for a table or an axis."""
    return say("train.percent", much=format_percent(share))


def share_in_tenths(share: float) -> str:
    """Returns a share as a percentage with one decimal, such as "12.5 %", for a table or a sentence."""
    return say("train.percent", much=format_percent_tenths(share))


def whole_share(share: float) -> str:
    """Returns a share as a whole percentage, or the words "less than 1", for an animated picture."""
    return say("train.percent", much=format_whole_percent(share))


def spoken_share(share: float, rest: float = 0.0) -> str:
    """Returns a share in percent, worded for a sentence.

    rest: the known share of all other keys; if it is above 0, the text does not say 100 %.
    """
    much = format_percent(share, rest)
    return say("share.nearly_all") if much == NEARLY_ALL else say("share.percent", much=much)
