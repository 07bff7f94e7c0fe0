"""Lists the papers on the history page, by year and name, each with the page that explains it and that page's
parameters.
"""

MILESTONES = {
    "1990_elman": ("distance", {"open": "states"}),
    "1997_lstm": ("distance", {}),
    "2014_ntm": ("scores", {"open": "ceiling"}),
    "2014_seq2seq": ("bottleneck", {}),
    "2014_cho": ("bottleneck", {"task": "reversal"}),
    "2015_bahdanau": ("bottleneck", {"task": "dates", "open": "one_step"}),
    "2015_luong": ("scores", {"open": "widths"}),
    "2015_xu": ("cross", {"open": "patches"}),
    "2017_vaswani": ("qkv", {}),
    "2018_gpt": ("masks", {"open": "future"}),
    "2019_bert": ("masks", {"open": "wirings"}),
    "2019_jain": ("explanation", {}),
    "2019_shazeer": ("heads", {"open": "share"}),
    "2019_child": ("cost", {"open": "skip"}),
    "2020_longformer": ("masks", {"open": "pairs"}),
    "2021_rope": ("positions", {"open": "distance"}),
    "2022_alibi": ("positions", {"open": "distance"}),
    "2022_olsson": ("induction", {}),
    "2022_flash": ("cost", {"open": "stored"}),
    "2023_gqa": ("heads", {"open": "share"}),
    "2024_sinks": ("masks", {"open": "wirings"}),
}
