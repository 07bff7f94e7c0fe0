"""The tasks, each with the page that shows its attention and the link parameters that open it there."""

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
