"""The browser tab gives the uploaded file that a server process lacks, once to each that asks."""

from tests.components.in_node import call_in_node

DRAW = """(kept, drawn) => {
    const storage = { getItem: () => kept, setItem: (_, text) => { kept = text } };
    Object.defineProperty(globalThis, "sessionStorage", { value: storage, configurable: true });
    const told = [];
    const setTriggerValue = (...event) => told.push(event);
    const counts = drawn.map(([digest, text, awaits]) => {
        globalThis.default({ data: { digest, text, awaits }, setTriggerValue });
        return told.length;
    });
    return [counts, told, kept];
}"""
LACKS, HAS, OTHER = ["", "", "d1"], ["d1", "content", ""], ["", "", "d2"]


def test_each_process_that_lacks_the_file_is_told_once():
    counts, told, kept = call_in_node("kept_file", DRAW, "d1\ncontent", [LACKS, LACKS, HAS, LACKS, LACKS, HAS])
    assert counts == [1, 1, 1, 2, 2, 2]
    assert told == [["read", "content"]] * 2 and kept == "d1\ncontent"


def test_another_file_than_the_kept_one_is_said_to_be_missing():
    _, told, kept = call_in_node("kept_file", DRAW, "d1\ncontent", [OTHER, LACKS])
    assert told == [["read", None], ["read", "content"]] and kept == "d1\ncontent"
