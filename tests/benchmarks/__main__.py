"""All of them, and one table."""

from tests.benchmarks import (
    asked,
    attend,
    change_to_pixels,
    classroom,
    comparing,
    first_frame,
    large,
    learned,
    left_pages,
    left_uploads,
    lessons,
    looking,
    memory,
    models,
    neighbours,
    opened,
    recorded,
    startup,
    transformer,
    users,
)
from tests.benchmarks.figures import report

report(
    [
        each.measure
        for each in (
            looking,
            first_frame,
            change_to_pixels,
            comparing,
            lessons,
            users,
            large,
            attend,
            transformer,
            learned,
            models,
            asked,
            recorded,
            opened,
            startup,
            memory,
            neighbours,
            left_pages,
            left_uploads,
            classroom,
        )
    ]
)
