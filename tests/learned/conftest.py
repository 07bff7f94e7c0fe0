"""What is not read for doctests: it imports transformers, which takes seconds, and every run would wait for it."""

collect_ignore = ["stock_forms.py"]
