"""What the browser keeps of a visit: only what this app writes counts."""

from tests.components.in_node import call_in_node

READ = """(texts, read) => texts.map((kept) => {
    Object.defineProperty(globalThis, "localStorage", { value: { getItem: () => kept }, configurable: true });
    return [...{ readProgress, readDrawers }[read]()];
})"""


def test_of_the_lessons_what_somebody_else_wrote_counts_as_nothing():
    others = ["nonsense", "[1]", "{}", '{"qkv": "<b>", "masks": 3}', "null", None]
    ours = '{"qkv": "solved", "masks": "opened", "heads": "<b>"}'
    read = call_in_node("kept_progress", READ, [*others, ours], "readProgress")
    assert read == [[]] * len(others) + [[["qkv", "solved"], ["masks", "opened"]]]


def test_of_the_drawers_what_somebody_else_wrote_counts_as_nothing():
    others = ["nonsense", "{}", "[1, null]", "3", "null", None]
    read = call_in_node("kept_progress", READ, [*others, '["roles", 3, "source"]'], "readDrawers")
    assert read == [[]] * len(others) + [["roles", "source"]]
