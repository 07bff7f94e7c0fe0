"""Splits one run into several: each sentence of a batch alone, or a causal sentence decoded word by word."""

from dataclasses import replace

import torch

from attention_core import AttentionConfig, Trace, attend
from attention_core.variants.kv_cache import decode
from pages.runs.compute import gather_inputs, label_feature_axes, make_run_tensors, to_setup_tensor
from pages.setup.resolve import config_of
from pages.setup.setup import RunSetup


def run_sentences_alone(run: RunSetup) -> list[Trace]:
    """Runs a batch's sentences one by one, without padding; returns the Traces."""
    inputs, config = gather_inputs(run), config_of(run)
    _, weights, pairs = make_run_tensors(inputs, run, config)
    alone = []
    with torch.inference_mode():
        for place, sentence in enumerate(inputs.batch):
            length = len(sentence.words)
            allowed = pairs.allowed
            if allowed is not None:
                allowed = allowed[:length, :length]
            own = slice(place, place + 1)
            what_if = {}
            for name, numbers in pairs.what_if.items():  # (B, H, T, S)
                what_if[name] = numbers[own, :, :length, :length]
            x = to_setup_tensor("x", sentence.x, run)  # (T, D)
            value = None if sentence.value is None else to_setup_tensor("value", sentence.value, run)
            trace = attend(
                x,
                value=value,
                weights=weights,
                config=config_for_length(config, length),
                allowed=allowed,
                what_if=what_if,
            )
            alone.append(trace.on_cpu())
    return alone


def config_for_length(config: AttentionConfig, length: int) -> AttentionConfig:
    """Returns the AttentionConfig for one sentence of a batch.

    This config has no padding mask, and no global tokens beyond the sentence's length.
    """
    masks = []
    for name, params in config.masks:
        if name == "padding":
            continue
        if "global_tokens" in params:
            own_tokens = tuple(token for token in params["global_tokens"] if token < length)
            params = {**params, "global_tokens": own_tokens}
        masks.append((name, params))
    return replace(config, masks=tuple(masks))


def run_decoding(run: RunSetup) -> list[Trace]:
    """Decodes a causal run word by word with a KV cache; returns one Trace per token, with labelled axes."""
    inputs, config = gather_inputs(run), config_of(run)
    given, weights, _ = make_run_tensors(inputs, run, config)
    words = inputs.queries
    with torch.inference_mode():
        traces = [trace.on_cpu() for trace in decode(given["x"], weights=weights, config=config)]
    labelled = []
    for place, trace in enumerate(traces):
        after = place + 1
        keys_held = trace.step("k").shape[2]
        first_key = after - keys_held
        columns = label_feature_axes(run, inputs, trace)
        trace = trace.labelled(
            T=words[place:after],
            S=words[first_key:after],
            **columns,
        )
        labelled.append(trace)
    return labelled
