"""The names of the environment variables that set the app up."""

ADDRESS = "ATTENTION_ADDRESS"  # the public address of the app
