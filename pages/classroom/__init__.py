"""The rooms of a lecture: a lecturer opens one, and browsers of the audience follow where the lecture stands."""
