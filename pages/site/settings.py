"""Names the environment variables that configure the app."""

ADDRESS = "ATTENTION_ADDRESS"  # environment variable with the public address of the app
MODELS = "ATTENTION_MODELS"  # environment variable with folders of models that visitors may open, separated as in PATH
HUB_MODELS = "ATTENTION_HUB_MODELS"  # environment variable with models of the hub that visitors may open and download
