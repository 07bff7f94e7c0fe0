"""Eight heads of 256 and of 512 tokens, from a change to the pixels, against a page that only draws as much."""

from collections.abc import Iterator
from itertools import cycle, islice

from playwright.sync_api import Page

from tests.benchmarks.change_to_pixels import press
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import AS_IT_COMES
from tests.benchmarks.tab import Tab, chromium
from tests.browser.conftest import process_of

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "it", "looked", "at", "another", "dog"]
PICTURE = ".flow svg"
BARE = "tests/benchmarks/bare/canvases.py"
OTHER_WORD = """({ flow }) => {
    const { places } = flow.model;
    window.dispatchEvent(new KeyboardEvent("keydown")); // from here the time counts, as from a key
    flow.lookAt({ query: places.find((place) => place !== flow.look.query) });
}"""
MOST = {256: 2, 512: 3}  # tokens -> times the bare page


def link(tokens: int) -> str:
    """Eight heads of width 64 over so many tokens."""
    return "?ex=eight_heads&text=" + "+".join(islice(cycle(WORDS), tokens))


def other_token(page: Page) -> None:
    """Another word is looked at: the one that gets the most of those that do not ask."""
    page.locator(".flow").evaluate(OTHER_WORD)


def measure(runs: int) -> Iterator[Figure]:
    """A click on a token of a large run against the bare canvases."""
    for tokens, most in MOST.items():
        yield measured(runs, tokens, most)


def measured(runs: int, tokens: int, most: int) -> Figure:
    """With so many tokens."""
    bare = {**AS_IT_COMES, "TOKENS": str(tokens)}
    with process_of("app.py") as (ours, _), process_of(BARE, **bare) as (least, _), chromium() as browser:
        canvases, screen = Tab(browser, least, "canvas"), Tab(browser, f"{ours}/{link(tokens)}", PICTURE)
        taken, floor = alternately(runs, lambda: screen.change(other_token), lambda: canvases.change(press))
    return against(f"change to pixels, another token looked at (8 heads of {tokens} tokens)", taken, floor, most)


if __name__ == "__main__":
    report([measure])
