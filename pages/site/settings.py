"""Names the environment variables that configure the app."""

ADDRESS = "ATTENTION_ADDRESS"  # the public address of the app
MODELS = "ATTENTION_MODELS"  # folders with models that visitors may open, separated as in the environment variable PATH
