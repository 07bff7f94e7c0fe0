"""How fast the app is, side by side with the least that Streamlit can do. Never part of the tests.

`python -m tests.benchmarks` runs all and prints the README's table; `python -m tests.benchmarks.attend` and so on runs
one. Figures that are compared are taken alternately in one run, after a warm-up.
"""
