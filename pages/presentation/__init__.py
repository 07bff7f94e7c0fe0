"""A lecture on the screen: the desk, the stage, the speaker's notes."""
