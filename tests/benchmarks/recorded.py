"""Models of transformers at the size of BERT base and GPT-2, with random numbers: recorded, and plain, in turns."""

from collections.abc import Callable, Iterator
from time import process_time

import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, PreTrainedModel

from attention_core.checkpoints import record
from tests.benchmarks.figures import Figure, alternately, milliseconds, report
from tests.benchmarks.transformer import free_a_large_block

MODELS = {"BERT base": (BertModel, BertConfig), "GPT-2": (GPT2LMHeadModel, GPT2Config)}
TOKENS = (32, 128)
MOST_RECORDED, MOST_TRACES, MOST_WITHOUT = 1.1, 1.3, 3  # times plain eager
LEAST_RUNS = 10
OFF = ((3, 5), (7, 2))  # layer and head
SPREAD = 4  # how much wider the matrices are than at the start of a training, so that heads are not all alike


def make(name: str) -> PreTrainedModel:
    """A model as its config comes, which computes its attention step by step (eager)."""
    kind, config = MODELS[name]
    torch.manual_seed(0)
    model = kind(config(attn_implementation="eager")).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(SPREAD)
    return model


def spent(run: Callable[[], object]) -> float:
    """Seconds of the processor in one run."""
    begun = process_time()
    run()
    return process_time() - begun


def measure_model(name: str, tokens: int, runs: int) -> Iterator[Figure]:
    """Recorded, with all Traces, and with two heads off, beside the model alone; the least of all runs, one thread."""
    model = make(name)
    generator = torch.Generator().manual_seed(1)
    numbers = torch.randint(model.config.vocab_size, (1, tokens), generator=generator)

    @torch.no_grad()
    def plain() -> object:
        return model(input_ids=numbers)

    whole = record(model, input_ids=numbers)  # the first run of a model is watched
    kinds = {
        "recorded": (lambda: record(model, input_ids=numbers), MOST_RECORDED),
        "recorded, with the Traces of all layers": (lambda: record(model, input_ids=numbers).traces, MOST_TRACES),
        "two heads off (What if)": (lambda: whole.without(OFF), MOST_WITHOUT),
    }
    acts = [plain, *(run for run, _ in kinds.values())]
    bare, *times = alternately(runs, *(lambda run=run: spent(run) for run in acts))
    for (what, (_, most)), taken in zip(kinds.items(), times, strict=True):
        found = f"{min(taken) / min(bare):.2f}× ({milliseconds(min(taken))} to {milliseconds(min(bare))})"
        yield Figure(f"{name}, {tokens} tokens: {what}, against eager: processor time", f"≤ {most:g}×", found)


def measure(runs: int) -> Iterator[Figure]:
    """Each model at each length."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    free_a_large_block()
    try:
        for name in MODELS:
            for tokens in TOKENS:
                yield from measure_model(name, tokens, max(runs, LEAST_RUNS))
    finally:
        torch.set_num_threads(threads)


if __name__ == "__main__":
    report([measure])
