"""The names of the environment variables that set the app up."""

ADDRESS = "ATTENTION_ADDRESS"  # the address at which everybody reaches the app
