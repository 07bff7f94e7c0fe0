"""The tasks, and where the attention that each takes can be seen: a page, and what is opened there."""

TASKS = {
    "translate": ("workbench", {"ex": "translator"}),
    "write": ("workbench", {"mask": "causal"}),
    "understand": ("encoder", {}),
    "relations": ("heads", {}),
    "image": ("workbench", {"ex": "picture"}),
    "align": ("workbench", {"ex": "learned_dates"}),
    "set": ("positions", {"open": "order"}),
    "long": ("cost", {"open": "skip", "pattern": "local"}),
    "serve": ("workbench", {"kv": "1"}),
    "latent": ("workbench", {"mod": "latent", "step": "latent_x"}),
    "stream": ("decoding", {"open": "kept", "what": "state"}),
}
