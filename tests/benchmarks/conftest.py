"""Benchmarks are run by hand: pytest collects none of them."""

collect_ignore_glob = ["*"]
