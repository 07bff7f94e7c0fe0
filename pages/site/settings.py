"""Names the environment variables that configure the app."""

ADDRESS = "ATTENTION_ADDRESS"  # the public address of the app
