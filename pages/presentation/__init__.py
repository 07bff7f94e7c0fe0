"""The presentation of a lecture: the overview in which it is edited, its scenes in large type, and the speaker's
notes.
"""
