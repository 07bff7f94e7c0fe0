"""The network trained for this app that translates: its encoder reads English, its decoder generates Chinese."""
