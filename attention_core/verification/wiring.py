"""Derives which steps each step of a layer should read, from the layer's input to its output, without the plan of the
run.

In a run, the plan (plan.py) determines which steps each step reads. The proof compares both, and so finds a step that
reads a wrong step.
"""

from collections.abc import Iterable, Mapping

from attention_core.mechanism.masks import ALL_ALLOW
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.operations import EVEN_WEIGHTS, PUT, TAKE
from attention_core.mechanism.parameters import names_of
from attention_core.mechanism.plan_steps import INPUT, KEY_INPUT, LAST_STEP
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.record.trace import Faces, Trace

Reads = tuple[str, ...]  # names of the steps that a step reads
SOURCES = ("x", "query", "key", "value")  # names of the inputs of a layer


def expected_reads(trace: Trace) -> dict[str, Reads]:
    """Return {step: names of the steps that it should read, in order} for an attention or feed-forward layer.

    Steps that no layer has are absent.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> expected_reads(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)))["weights"]
    ('masked_scores',)
    """
    if "head_outputs" in trace.steps:
        return LayerWires(trace).expected
    if "activated" in trace.steps:
        return FeedForwardWires(trace).expected
    if "recorded" in trace.steps:
        return {"output": ("recorded",), "residual": ("x", "output")}
    return {}


class Wires:
    """Finds which steps each step of a layer should read, from the layer's input to its output; the result is
    `expected`.
    """

    def __init__(self, trace: Trace):
        self.trace = trace
        self.steps = trace.steps
        self.expected: dict[str, Reads] = {}
        self.find()

    def find(self) -> None:
        """Fill `expected` with {step: names of the steps that it should read}."""
        raise NotImplementedError

    def faces(self, name: str) -> Faces | None:
        """Return the four functions (Faces) of the operation that computes a step; None for an input or a missing
        step.
        """
        step = self.steps.get(name)
        return step.operation.faces if step and step.operation else None

    def given(self, *names: str) -> Reads:
        """Return those of these names that are steps of the run."""
        return tuple(name for name in names if name in self.steps)

    def wire(self, name: str, *reads: str) -> str:
        """Record in `expected` the operands that a step should have; return the step's name.

        If the step appends to a cache, its new part should read these steps, and the step itself should read the cache
        and the new part.
        """
        is_new = f"{name}_new" in self.steps
        self.expected[f"{name}_new" if is_new else name] = reads
        if is_new:
            self.expected[name] = (f"{name}_cache", f"{name}_new")
        return name

    def pass_modifiers(
        self, place: str, thing: str, here: str, sources: Mapping[str, str] | None = None, suffix: str = ""
    ) -> str:
        """Record the operands that the modifiers' steps at one place should have; return the last of these steps, else
        `here`.

        thing: the changed step, such as q. here: the name of the step before the modifiers. sources: {INPUT or
        KEY_INPUT: the name of the step that a modifier reads for it}. suffix: the ending of the step names of the
        second attention map.
        """
        for modifier in MODIFIERS.values():
            steps = modifier.steps.get(place, ())
            made = {step.output.format(thing=thing): step for step in steps}
            if not steps or f"{[*made][-1]}{suffix}" not in self.steps:
                continue
            for name, step in made.items():
                if self.faces(f"{name}{suffix}") != step.faces:  # its operation was replaced by the visitor
                    continue
                named = {LAST_STEP: here, **(sources or {})}
                reads = [named.get(read, read.format(thing=thing)) for read in step.reads]
                self.wire(f"{name}{suffix}", *(f"{read}{suffix}" if read in made else read for read in reads))
            here = f"{[*made][-1]}{suffix}"
        return here

    def pass_sum(self, tables: list[str], total: str) -> str:
        """Record the operands that the additions of several tables should have; return the name of the last sum.

        tables: the names of the tables' steps. total: the name of the sum.
        """
        here, *others = tables
        for count, table in enumerate(others, 2):
            name = total if count == len(tables) else f"{total}_{count}"
            here = self.wire(name, here, table)
        return here


class FeedForwardWires(Wires):
    """Finds which steps each step of a feed-forward layer should read."""

    def find(self) -> None:
        x = self.pass_modifiers("inputs", "x", "x")
        self.wire("hidden", x, *self.given("w_1", "b_1"))
        self.wire("gate_projected", x, *self.given("w_gate", "b_gate"))
        self.wire("gate", "gate_projected")
        self.wire("activated", "hidden", *self.given("gate"))
        last = self.wire("output", "activated", *self.given("w_2", "b_2"))
        last = self.pass_modifiers("added", "added", last)
        if "residual" in self.steps:
            last = self.wire("residual", *(self.given("stream") or ("x",)), last)
        self.pass_modifiers("output", "output", last)


class LayerWires(Wires):
    """Finds which steps each step of an attention layer should read, from the layer's input, or from q, k and v."""

    def find(self) -> None:
        computed = [*self.trace.computed()]
        self.before_mixing = {*computed[: computed.index("head_outputs")]}
        self.query_input = ""  # the input of q with its positions, to which the residual adds the output
        self.made_of: dict[str, str] = {}  # "q", "k" or "v" -> the step of its input
        self.projected: dict[str, str] = {}  # "q", "k" or "v" -> the step that its projection reads
        self.find_inputs()
        self.find_qkv()
        maps = ("", "_2") if "weights_2" in self.steps else ("",)
        for suffix in maps:
            self.find_heads(suffix)
        self.find_position_steps()
        for suffix in maps:
            self.find_map(suffix, is_one=len(maps) == 1)
        self.find_mixing(self.find_weights(len(maps)))

    # ---- from the input to q, k and v
    def find_inputs(self) -> None:
        """Record the operands that the steps before the projections should have: added positions, and modifiers."""
        inputs = self.given(*SOURCES)
        if not inputs or "q" in self.trace.inputs():
            return
        placed = {source: self.place_input(source) for source in inputs}
        query = "x" if "x" in placed else "query"
        key = query if query == "x" else "key"
        sources = {"q": query, "k": key, "v": "value" if "value" in placed else key}
        self.query_input = placed[query]
        changed = {**placed, query: self.pass_modifiers("inputs", query, placed[query])}
        self.made_of = {role: changed[source] for role, source in sources.items()}
        self.projected = {
            role: changed[source] if role == "q" else self.pass_modifiers("sources", source, changed[source])
            for role, source in sources.items()
        }

    def place_input(self, source: str) -> str:
        """Record the operands of the sum of an input and its positions; return the name of the step with positions,
        else of the input."""
        tables = []
        for name in self.in_order(f"{{}}_{source}", "input"):
            tables.append(self.wire(f"{name}_{source}", source, *POSITIONS[name].operands))
        if not tables:
            return source
        return self.wire(f"positioned_{source}", source, self.pass_sum(tables, f"positions_{source}"))

    def in_order(self, name: str, place: str) -> list[str]:
        """Return the position encodings at a place whose steps are in the run, in the run's order.

        name: the name of such a step, with {} for the encoding.
        """
        there = {name.format(each): each for each, position in POSITIONS.items() if position.place == place}
        return [there[step] for step in self.steps if step in there]

    def find_qkv(self) -> None:
        """Record the operands that the projections and the split into heads should have."""
        for role, source in self.projected.items():
            if f"{role}_projected" in self.steps:
                source = self.wire(f"{role}_projected", source, *self.given(f"w_{role}", f"b_{role}"))
            heads = f"{role}_heads" if f"{role}_heads" in self.steps else role
            self.wire(heads, source)

    def find_heads(self, suffix: str) -> None:
        """Record the operands that the steps between the heads and q or k (modifiers, positions) should have, for one
        map.

        suffix: the ending of the names of the map's steps.
        """
        for role in "qk":
            if f"{role}_heads" not in self.steps:
                continue
            here = f"{role}_heads"
            for name, reads in self.order_head_steps(role, suffix):
                here = self.wire(name, *(here if read == LAST_STEP else read for read in reads))

    def order_head_steps(self, role: str, suffix: str) -> list[tuple[str, Reads]]:
        """Return (step, operands) for the steps from the heads to q or k, in the order of the run.

        The last step is q or k.
        """
        last = f"{role}{suffix}"
        new = f"{last}_new" if f"{last}_new" in self.steps else last
        named, others = {}, []
        for name, faces, reads in self.list_head_steps(role, suffix):
            if name in self.steps:
                named[name] = reads
            elif self.faces(new) == faces:
                others.append((last, reads))
        return [(name, named[name]) for name in self.steps if name in named] + others[:1]

    def list_head_steps(self, role: str, suffix: str) -> Iterable[tuple[str, Faces, Reads]]:
        """Yield (name, faces, operands) for all steps that a run may have between the heads and q or k.

        suffix: the ending of the names of the map's steps.
        """
        for modifier in MODIFIERS.values():
            made = {step.output.format(thing=role): step for step in modifier.steps.get("heads", ())}
            for name, step in made.items():
                named = (read.format(thing=role) for read in step.reads)
                reads = tuple(f"{read}{suffix}" if read in made else read for read in named)
                yield f"{name}{suffix}", step.faces, reads
        for name, position in POSITIONS.items():
            if position.place == "heads":
                yield f"{role}_{name}{suffix}", position.faces, (LAST_STEP, *position.operands)

    def find_position_steps(self) -> None:
        """Record the operands that the further steps of position encodings should have: the inputs, or q and k."""
        named = {INPUT: self.made_of.get("q", ""), KEY_INPUT: self.made_of.get("k", "")}
        for position in POSITIONS.values():
            for step in position.steps:
                self.wire(step.output, *(named.get(read, read) for read in step.reads))

    # ---- a map of weights
    def find_map(self, suffix: str, is_one: bool) -> None:
        """Record the operands that the steps from q and k to the weights of one attention map should have.

        suffix: the ending of the names of this map's steps. is_one: whether there is only one map.
        """
        here = self.find_scores(suffix)
        if suffix == "":
            self.find_masks(here)
        mask = self.given("allowed")
        self.wire(f"masked_scores{suffix}", here, *mask)
        weights = self.trace_weights() if is_one else f"weights{suffix or '_1'}"
        for normaliser in NORMALISERS.values():
            if self.faces(weights) == normaliser.faces:
                self.wire(weights, f"masked_scores{suffix}", *names_of(normaliser.weights))

    def trace_weights(self) -> str:
        """Return the name of the weights' step before any replacement or dropout."""
        return "computed_weights" if "computed_weights" in self.steps else "weights"

    def find_scores(self, suffix: str) -> str:
        """Record the operands that the steps from q and k to the scores should have; return the name of the scores that
        the mask is applied to.
        """
        is_chosen = suffix == "" and "chosen_scores" in self.steps
        computed = "computed_scores" if is_chosen else f"scores{suffix}"
        own = {"q": f"q{suffix}", "k": f"k{suffix}"}
        if "q_scaled" in self.steps:
            own["q"] = self.wire("q_scaled", "q")
        for operation in self.score_operations(computed, suffix):
            reads = [own.get(read, read) for read in operation.reads]
            own[operation.output] = f"{operation.output}{suffix}"
            is_last = operation.output == "scores"
            self.wire(computed if is_last else own[operation.output], *reads)
        here = f"scores{suffix}"
        if is_chosen:
            self.wire("scores", "computed_scores", "chosen_scores", "where_scores")
        for name in self.in_order("{}_scores" + suffix, "scores"):
            operands = [{"q": f"q{suffix}", "k": f"k{suffix}"}.get(read, read) for read in POSITIONS[name].operands]
            here = self.wire(f"{name}_scores{suffix}", here, *operands)
        here = self.wire(f"scaled_scores{suffix}", here)
        here = self.pass_modifiers("scores", "scores", here, suffix=suffix)
        if "bias" not in self.steps:
            return here
        if suffix == "":
            self.find_bias(here)
        return self.wire(f"biased_scores{suffix}", here, "bias")

    def score_operations(self, computed: str, suffix: str) -> tuple:
        """Return the operations of the run's score function; of several that end with the same operation, the
        longest.
        """
        found: tuple = ()
        for score in SCORES.values():
            *before, last = score.operations
            is_there = all(f"{operation.output}{suffix}" in self.steps for operation in before)
            if is_there and self.faces(computed) == last.faces and len(score.operations) > len(found):
                found = score.operations
        return found

    def find_bias(self, here: str) -> None:
        """Record the operands that the bias tables, and the sums of these with the scores, should have.

        here: the name of the scores' step.
        """
        tables = []
        for name in self.in_order("{}_bias", "bias"):
            tables.append(self.wire(f"{name}_bias", here, *POSITIONS[name].operands))
        if tables:
            self.pass_sum([*tables, *self.given("bias_custom")], "bias")
            return
        for position in POSITIONS.values():
            if position.place == "bias" and self.faces("bias") == position.faces:
                self.wire("bias", here, *position.operands)

    def find_masks(self, here: str) -> None:
        """Record the operands that the masks and their combination should have."""
        masks = [name for name in self.steps if name.startswith("allowed_")]
        for name in masks:
            self.wire(name, here)
        if self.faces("allowed") == ALL_ALLOW:
            self.wire("allowed", *(name for name in masks if name != "allowed_custom"), *self.given("allowed_custom"))
        else:
            self.wire("allowed", here)

    # ---- from the weights to the output
    def find_weights(self, maps: int) -> str:
        """Record the operands that combined, replaced and dropped weights should have; return the name of the final
        weights."""
        if maps > 1:
            self.pass_maps()
        if "computed_weights" in self.steps:
            others = {
                PUT: ("chosen_weights", "where_weights"),
                TAKE: ("replacement",),
                EVEN_WEIGHTS: self.given("allowed"),
            }
            for faces, reads in others.items():
                if self.faces("weights") == faces:
                    self.wire("weights", "computed_weights", *reads)
        if "dropped_weights" not in self.before_mixing:  # dropout of weights comes before the values are mixed
            return "weights"
        return self.wire("dropped_weights", "weights", "keep")

    def pass_maps(self) -> None:
        """Record the right operands of the steps in which a modifier combines two maps into the weights."""
        for modifier in MODIFIERS.values():
            *steps, last = modifier.steps.get("maps", (None,))
            if last is None or self.faces(self.trace_weights()) != last.faces:
                continue
            for step in steps:
                self.wire(step.output, *step.reads)
            reads = ("weights_1" if read == LAST_STEP else read for read in last.reads)
            self.wire(self.trace_weights(), *reads)

    def find_mixing(self, weights: str) -> None:
        """Record the operands that the steps from the weighted sum of the values to the output should have."""
        here = self.wire("head_outputs", weights, "v")
        here = self.pass_modifiers("mixed", "mixed", here, {INPUT: self.made_of.get("q", "")})
        self.wire("concat", here)
        last = self.wire("output", "concat", *self.given("w_o", "b_o"))
        last = self.pass_modifiers("added", "added", last)
        if "residual" in self.steps:
            last = self.wire("residual", self.query_input, last)
        self.pass_modifiers("output", "output", last)
