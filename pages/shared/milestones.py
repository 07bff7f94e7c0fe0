"""Who brought what: by year and name, the page where it can be seen here, and what is opened there."""

MILESTONES = {
    "1990_elman": ("distance", {"open": "states"}),
    "1997_lstm": ("distance", {}),
    "2014_ntm": ("scores", {"open": "ceiling"}),
    "2014_seq2seq": ("bottleneck", {}),
    "2015_bahdanau": ("bottleneck", {"open": "one_step"}),
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
