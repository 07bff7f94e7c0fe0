"""A link or a file that names a recorded model which is not kept: the reason, and no numbers of an example."""

from pages.setup.codec import setup_to_link
from pages.setup.setup import make_setup
from pages.setup.setup_file import setup_to_file
from tests.screen.driver import Screen, plain
from tests.screen.lesson import Lesson
from tests.workbench.test_sharing import offer

GONE = make_setup(recorded="0123456789abcdef", layer=2, heads=4, masks=("causal",))
LINK = setup_to_link(GONE)


def drawn(page: Lesson) -> list[str]:
    """The names of the parts of the page that the browser draws."""
    return [part.proto.id.rpartition("-")[2] for part in page.at.get("bidi_component")]


def test_a_link_that_begins_a_session_shows_the_reason_and_no_numbers():
    for language, begun in (("en", "Nothing of the link is shown: the layer"), ("zh", "没有显示链接的内容：")):
        page = Lesson("", **LINK, lang=language)
        (error,) = page.at.error
        assert error.value.startswith(begun)
        assert not {"flow", "film", "arithmetic", "block"} & {*drawn(page)} and not page.at.text_input
        assert page.link() | {"lang": language} == LINK | {"lang": language}  # a reload tries it again
        page.press("begin")
        assert "flow" in drawn(page) and not page.at.error


def test_a_file_leaves_the_screen_as_it_was():
    screen = Screen(text="The dog barked.").open("sharing")
    before, fact = screen.setup(), screen.fact()
    offer(screen, setup_to_file(GONE).encode())
    (error,) = [plain(each.value) for each in screen.at.error]
    assert error.startswith("Nothing of the file is shown: the layer of this screen is no longer kept")
    assert screen.setup() == before and screen.fact() == fact
    screen.set("text", "The cat barked.")
    assert not screen.at.error
