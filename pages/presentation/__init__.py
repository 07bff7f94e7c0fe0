"""The presentation of a lecture: the desk where it is edited, the stage, and the speaker's notes."""
