"""Several sentences computed together: each has the numbers that it has alone, and nobody attends to what fills it."""

import re

import pytest

pytestmark = pytest.mark.slow

FIRST = "Anna fed the dog and it barked"
MORE = ["Tom read and then he laughed", "Anna smiled"]


def weights(opened, front: str = "") -> dict[str, float]:
    """The weights on the screen by head, query and key, those of what fills a sentence up left out."""
    drawn = opened.numbers(f"weights [{front}head")
    return {name.removeprefix(f"weights [{front}"): float(x) for name, x in drawn.items() if "<pad>" not in name}


BLOCKED = """root => {
    const { model, share, look } = root.flow, matrix = model.matrix(share, look);
    let count = 0;
    for (let row = 0; row < matrix.rows; row++)
        for (let column = 0; column < matrix.columns; column++) count += matrix.isBlocked(row, column);
    return count;
}"""


def test_each_sentence_of_a_batch_has_the_weights_that_it_has_alone(screen):
    opened = screen()
    opened.open_row("Batch of sentences")
    with opened.answered():
        opened.page.get_by_text("A batch of sentences").click()
    box = opened.page.get_by_label("More sentences, one per line")
    box.fill("\n".join(MORE))
    box.press("Control+Enter")
    alone = screen()
    for number, text in enumerate([FIRST, *MORE], start=1):
        opened.page.get_by_role("radio", name=re.compile(f"^{number}: {' '.join(text.split()[:2])}")).click()
        last = text.split()[-1]
        opened.wait_for_number(f"weights [sentence {number}, head 2, {last}, {last}]", "")
        if number > 1:  # the first stands there from the start
            alone.type("Sentence", text)
        alone.wait_for_number(f"weights [head 2, {last}, {last}]", "")
        together, by_itself = weights(opened, f"sentence {number}, "), weights(alone)
        assert len(by_itself) == 2 * len(text.split()) ** 2
        assert together == pytest.approx(by_itself, abs=1e-12)
        missing = 7 - len(text.split())
        assert opened.tokens() == [*text.split(), *["<pad>"] * missing]
        numbers = opened.numbers(f"weights [sentence {number}, head 1,")
        filled = {name: x for name, x in numbers.items() if "<pad>" in name.rpartition(", ")[2]}
        assert len(filled) == 7 * missing
        assert set(filled.values()) <= {"0"}
        assert opened.page.locator(".flow").evaluate(BLOCKED) == 7 * missing
