"""The lesson on masks: masks."""
