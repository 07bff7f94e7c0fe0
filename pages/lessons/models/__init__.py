"""The lesson on today's models: the attention of published models."""
