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


MODELS = """(texts) => texts.map((kept) => {
    const stored = new Map(kept === null ? [] : [["attention-models", kept]]);
    const storage = {
        getItem: (key) => stored.get(key) ?? null,
        setItem: (key, text) => stored.set(key, text),
        removeItem: (key) => stored.delete(key),
    };
    Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
    const told = [];
    const setTriggerValue = (...event) => told.push(event);
    const draw = (names, begins) => globalThis.default({ data: { names, begins }, setTriggerValue });
    draw(["own"], true);
    const first = [...told, stored.get("attention-models") ?? null];
    draw(["one", "two"], false);
    const second = readModels();
    draw([], false);
    return [first, second, stored.size, told.length];
})"""


def test_names_of_models_are_kept_until_they_are_forgotten():
    ours, others = '["a/b", "/c"]', ["nonsense", "{}", "null", '[1, "", null]', None]
    (first, second, left, told), *rest = call_in_node("kept_models", MODELS, [ours, *others])
    assert first == [["read", ["a/b", "/c"]], ours]  # nothing is overwritten before the server has heard it
    assert (second, left, told) == (["one", "two"], 0, 1)
    for first, second, left, told in rest:
        assert (first, second, left, told) == (['["own"]'], ["one", "two"], 0, 0)
